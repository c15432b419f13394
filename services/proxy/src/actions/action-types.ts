import type { BashResult, EnvServer, JsonObject, OfferedTool, ToolResult } from '../domain/facts.js';

export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

/** A command that runs, with everything that it started. */
export interface RunningCommand {
  /** Resolves when the shell has ended (its children may live on); never rejects: what goes wrong is a result. */
  readonly result: Promise<BashResult>;
  /** Ends the whole tree: TERM, a grace, KILL. Resolves with how many processes were ended; idempotent. */
  end(): Promise<number>;
}

export interface CommandRunner {
  /** True if commands run under bash; false: `sh`. */
  readonly isBash: boolean;
  start(
    command: string,
    options: { readonly timeoutMs: number; readonly onChunk?: (chunk: OutputChunk) => void },
  ): RunningCommand;
  /** Ends everything that still runs, within the time. */
  close(graceMs: number): Promise<void>;
}

/** The env servers of one turn: one session each, opened when first needed, closed with the turn. */
export interface TurnTools {
  /**
   * The tools of all servers, in order of registration; listed once and kept, concurrent callers share one listing, a
   * failed one is not kept.
   *
   * @throws Refusal 502 that names the server, 409 for a name that two offer.
   */
  list(signal: AbortSignal): Promise<readonly OfferedTool[]>;
  /** Never rejects: what goes wrong is a result with `isError`. `attributes` are for the span (`mcp.*`). */
  call(call: {
    readonly server: string;
    readonly name: string;
    readonly arguments: JsonObject;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  }): Promise<{ readonly result: ToolResult; readonly attributes: JsonObject }>;
  /** Ends listings and calls and says goodbye to the servers; at most 5 s. */
  close(): Promise<void>;
}

export interface ToolCaller {
  openTurn(servers: readonly EnvServer[], options: { readonly hasShell: boolean }): TurnTools;
  close(): Promise<void>;
}
