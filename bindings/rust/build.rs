//! Compiles shim.c, and the recorder or a link to one that is installed.
//!
//! `QPROF_LIBRARY=/path/libqprof.a`, with its headers in `QPROF_INCLUDE`: a recorder that is built. Else what pkg-config
//! finds; else the recorder in one file, in recorder/, which tools/amalgamate.py writes there from a checkout.
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    if !output.status.success() {
        panic!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn pkg_config() -> Option<String> {
    let output = Command::new("pkg-config")
        .args(["--cflags", "--libs", "qprof"])
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The folder of the recorder in one file, written from the checkout if there is one.
fn recorder_sources(out: &Path) -> PathBuf {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let script = here.join("../../tools/amalgamate.py");
    if !script.exists() {
        return here.join("recorder");
    }
    let folder = out.join("recorder");
    std::fs::create_dir_all(folder.join("qprof")).unwrap();
    run(Command::new("python3").arg(script).arg(&folder));
    std::fs::write(folder.join("qprof/embed.h"), "#include \"../qprof.h\"\n").unwrap();
    folder
}

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut sources = vec![PathBuf::from("shim.c")];
    let mut flags: Vec<String> = Vec::new();
    let mut link = Vec::new();
    println!("cargo:rerun-if-changed=shim.c");
    println!("cargo:rerun-if-env-changed=QPROF_LIBRARY");
    if let Ok(library) = env::var("QPROF_LIBRARY") {
        let library = PathBuf::from(library);
        flags.push(format!(
            "-I{}",
            env::var("QPROF_INCLUDE").expect("QPROF_INCLUDE: the folder of qprof.h")
        ));
        link.push(format!("search=native={}", library.parent().unwrap().display()));
        link.push("lib=static=qprof".into());
    } else if let Some(words) = pkg_config() {
        for word in words.split_whitespace() {
            match word.get(..2) {
                Some("-L") => link.push(format!("search=native={}", &word[2..])),
                Some("-l") => link.push(format!("lib={}", &word[2..])),
                _ => flags.push(word.into()),
            }
        }
    } else {
        let folder = recorder_sources(&out);
        flags.push(format!("-I{}", folder.display()));
        sources.push(folder.join("qprof.c"));
    }
    let mut objects = Vec::new();
    for source in &sources {
        let object = out.join(source.file_name().unwrap()).with_extension("o");
        run(Command::new(&compiler)
            .args([
                "-O2",
                "-std=c11",
                "-D_GNU_SOURCE",
                "-fPIC",
                "-Wall",
                "-Wextra",
                "-Wno-stringop-overread",
            ])
            .args(&flags)
            .arg("-c")
            .arg(source)
            .arg("-o")
            .arg(&object));
        objects.push(object);
    }
    let archive = out.join("libqprof_shim.a");
    let _ = std::fs::remove_file(&archive);
    run(Command::new("ar").arg("rcs").arg(&archive).args(&objects));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=qprof_shim");
    for word in link {
        let (kind, value) = word.split_once('=').unwrap();
        println!("cargo:rustc-link-{kind}={value}");
    }
    println!("cargo:rustc-link-lib=pthread");
    println!("cargo:rustc-link-lib=m");
}
