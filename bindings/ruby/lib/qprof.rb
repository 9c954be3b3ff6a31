# frozen_string_literal: true

# Exact profiles of Ruby programs.
#
#     Qprof.profile(output: "run.qprof") { work }
#
#     ruby -rqprof script.rb        the same for a whole program
#
# The figures are in the file, which the program qprof shows: qprof report run.qprof. Options are those of
# docs/options.md, as keywords: time: "adaptive", memory_limit: "1G". Guide: docs/ruby.md.
require "qprof/recorder"
require "qprof/cost"
require "qprof/cover"

module Qprof
  class Error < RuntimeError; end

  class << self
    # Begin a run.
    #
    # options      text of options, "-output=run.qprof -time=adaptive"
    # open_frames  methods that are open now are recorded from now on: as resumes, not as calls
    # lines        executions of lines are counted without coverage as well
    # named        options as keywords, collect: "coverage"
    # Raises Qprof::Error if a run is on already, or the options are wrong.
    def start(options = "", open_frames: true, lines: false, **named)
      begin_run(options_text(options, named), open_frames && caller_labels, lines)
      nil
    end

    # End the run and write its file. If no run is on, nothing happens.
    def stop
      return unless running?
      Recorder.unhook
      Cover.add_unloaded if Recorder.option("cover-unloaded")
    ensure
      Recorder.stop
    end

    # Record a block, and return its value.
    def profile(options = "", **named)
      start(options, **named)
      begin
        yield
      ensure
        stop
      end
    end

    # Is a run on? Is it not paused?
    def running? = Recorder.running?
    def recording? = Recorder.recording?

    # Record nothing; record again. Calls meanwhile are skips.
    def pause = Recorder.pause
    def resume = Recorder.resume

    # Write what is known so far, and continue. Returns whether it was written.
    def snapshot(file = nil) = Recorder.snapshot(file&.to_s)

    # What runs from now on belongs to a context, for example a test; nil: to none.
    def context(name = nil) = Recorder.context(name&.to_s)

    # Run a block as a request of a server: what it does is shown below the endpoint. Returns the block's value; an error
    # counts the request as failed, and passes through. traceparent is the header of W3C Trace Context; a wrong one is
    # ignored.
    def request(endpoint, traceparent = nil)
      has_failed = false
      Recorder.enter_request(endpoint.to_s, traceparent&.to_s)
      begin
        yield
      rescue Exception
        has_failed = true
        raise
      ensure
        Recorder.leave_request(has_failed)
      end
    end

    # Leave a marker, shown by qprof info.
    def mark(text) = Recorder.mark(text.to_s)

    private

    def option(name, value)
      text = { true => "yes", false => "no" }.fetch(value) { value.to_s }
      %(-#{name.to_s.tr("_", "-")}="#{text.gsub(/["\\]/) { "\\#{_1}" }}")
    end

    def options_text(options, named)
      [options, *named.map { |name, value| option(name, value) }].reject(&:empty?).join(" ")
    end

    # Of the frames that are open, as the extension will find them: begin_run, start and so on.
    def caller_labels = ["begin_run", *caller_locations(1).map(&:label)]

    def begin_run(text, begins_with, lines)
      Recorder.set_program($PROGRAM_NAME, ARGV, "Ruby #{RUBY_VERSION}")
      Cover.begin_run
      error = Recorder.start(text, begins_with, lines)
      raise Error, error if error
    end

    # As ruby -rqprof does. A wrong option must not end the program that would have run.
    def begin_command_line
      at_exit { stop }
      begin_run("-filename-prefix=%s.%p", $PROGRAM_NAME, false)
    rescue Error => error
      # the recorder prints mistakes of its variable
      warn "qprof: #{error.message}: nothing is recorded" if ENV.fetch("QPROF", "").empty?
    end
  end

  Recorder.configure("#{__dir__}/qprof", Cover)
  at_exit { stop }
  # Does the interpreter load it for its option -r, and no program?
  begin_command_line if caller_locations.all? { |at| at.path.start_with?("<internal:", __FILE__) }
end
