/** `parley replay`, read and checked. */
export interface ReplaySettings {
  readonly type: 'replay';
  /** Absolute; `-` stands for the standard input. */
  readonly file: string;
  readonly proxyUrl: string;
  readonly tokenFile: string | undefined;
  /** Absolute: where tokens that are made are kept. */
  readonly stateDir: string;
  /** Servers of tools to register before, by name. */
  readonly servers: Readonly<Record<string, string>>;
  /** For the whole of it. */
  readonly timeoutMs: number | undefined;
  readonly isJson: boolean;
}
