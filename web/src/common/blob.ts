// blob.ts: columns of numbers that are too many for JSON: varints, compressed, in base64.

/** The bytes of a block `application/gzip;base64`. */
export async function inflated(id: string): Promise<Uint8Array> {
    const text = document.getElementById(id)?.textContent ?? "";
    const packed = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads little-endian base-128 numbers one after the other; exact up to 2^53. */
export class Varints {
    private at = 0;
    constructor(private readonly bytes: Uint8Array) {}

    next(): number {
        let value = 0;
        let scale = 1;
        for (;;) {
            const byte = this.bytes[this.at++];
            value += (byte & 127) * scale;
            if (byte < 128) return value;
            scale *= 128;
        }
    }
}
