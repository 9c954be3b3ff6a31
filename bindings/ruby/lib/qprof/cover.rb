# frozen_string_literal: true

require "rbconfig"

module Qprof
  # Which files are covered, by the options -cover-root, -cover-include, -cover-exclude and -cover-unloaded, and
  # which functions and lines they have.
  module Cover
    METHOD, _C, BLOCK, BODY, FILE = 0, 1, 2, 3, 4
    KINDS = { method: METHOD, block: BLOCK, class: BODY, top: FILE, main: FILE }.freeze
    LIBRARIES = [RbConfig::CONFIG["rubylibdir"], RbConfig::CONFIG["vendordir"], RbConfig::CONFIG["sitedir"],
                 "/usr/share/rubygems-integration", *Gem.path].compact.map { |folder| "#{folder}/" }.freeze

    class << self
      def begin_run
        @root = nil
        @known = {}
      end

      # What the extension asks of each file that it meets: nil, or [lines, source, [[kind, name, first line,
      # lines], ...]]. Nothing is raised in the thread meanwhile.
      def file(path)
        Thread.handle_interrupt(Object => :never) do
          @known[path] = true
          describe(path) if covers?(path)
        rescue StandardError, ScriptError
          nil
        end
      end

      # Register the files below the root that were never loaded.
      def add_unloaded
        known = @known.keys.map { |path| File.exist?(path) ? File.realpath(path) : path }
        Dir[File.join(root, "**", "*.rb")].sort.each do |path|
          Recorder.add_file(path) unless known.include?(File.realpath(path))
        end
      end

      private

      def root
        @root ||= begin
          @has_root = !(Recorder.option("cover-root") || "").empty?
          @included = pattern(Recorder.option("cover-include"))
          @excluded = pattern(Recorder.option("cover-exclude"))
          File.realpath(@has_root ? Recorder.option("cover-root") : ".")
        end
      end

      # A regular expression for globs: *, ?, [a-z], and ** for any number of folders. A folder is all in it.
      def pattern(globs)
        words = (globs || "").split(/[:,]/).reject(&:empty?).map do |glob|
          glob.delete_suffix("/").gsub(%r{\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]|\\.|.}m) do |part|
            { "**/" => "(?:.*/)?", "**" => ".*", "*" => "[^/]*", "?" => "[^/]" }.fetch(part) do
              part.size > 1 && part[0] == "[" ? part.sub("[!", "[^") : Regexp.escape(part[-1])
            end
          end
        end
        Regexp.new("\\A(?:#{words.join("|")})(?:/.*)?\\z") unless words.empty?
      end

      def covers?(path)
        return false unless File.file?(path)
        full = File.realpath(path)
        is_below = full.start_with?("#{root}/")
        shown = is_below ? full.delete_prefix("#{root}/") : full
        return false if @has_root && !is_below
        return false if !@has_root && !@included && LIBRARIES.any? { |folder| full.start_with?(folder) }
        !(@included && !@included.match?(shown)) && !@excluded&.match?(shown)
      end

      def describe(path)
        source = File.binread(path)
        verbose, $VERBOSE = $VERBOSE, nil
        code = RubyVM::InstructionSequence.compile_file(path)
        rows = {}
        collect(code, "", KINDS[:top], nil, rows)
        taken = {}
        rows.each_value do |row|
          row[3] = Recorder.wants_lines? ? row[3].uniq.reject { |line| taken[line] }.sort : []
          row[3].each { |line| taken[line] = true }
        end
        [[source.count("\n") + 1, *taken.keys].max, source, rows.values]
      ensure
        $VERBOSE = verbose
      end

      # Lines of a rescue, an ensure and the like belong to the function that has them.
      def collect(code, owner, kind, into, rows)
        type = code.to_a[9]
        if (own = KINDS[type])
          owner = [owner, code.label[/\A<\w+:(.*)>\z/, 1]].reject(&:empty?).join("::") if type == :class && code.label.include?(":")
          name = { METHOD => "#{owner.empty? ? "Object" : owner}##{code.label}",
                   BLOCK => code.label, BODY => code.label.sub(/:.*>/, ":#{owner}>"),
                   FILE => code.path == $PROGRAM_NAME ? "<main>" : "<top (required)>" }[own]
          into = rows[[own, code.first_lineno, name]] ||= [own, name, code.first_lineno, []]
        end
        into[3].concat(code.trace_points.filter_map { |line, event| line if event == :line })
        code.each_child { |child| collect(child, owner, kind, into, rows) }
      end
    end
  end
end
