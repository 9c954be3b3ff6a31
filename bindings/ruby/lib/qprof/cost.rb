# frozen_string_literal: true

module Qprof
  # Calls whose cost is measured when a run begins.
  module Cost
    def self.nothing; end

    def self.of_ruby(n)
      i = 0
      while i < n
        nothing
        i += 1
      end
    end

    def self.of_c(n)
      i = 0
      while i < n
        Recorder.nothing
        i += 1
      end
    end
  end
end
