import type { AnyOperation } from '../operation.js';

/** What a route may read from a request to make an operation's input. */
export interface HttpInput {
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed JSON body; undefined when there is none. */
  readonly body: unknown;
}

/** What a route answers. A string body is JSON already. */
export interface HttpAnswer {
  readonly status: number;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `latin1` only for a text of ASCII characters: it then needs no look at each of them. Default `utf8`. */
  readonly encoding?: 'latin1' | 'utf8';
}

/** Carries an operation over HTTP/JSON. */
export interface HttpRoute {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** Express form: `/agents/:agent_id`. */
  readonly path: string;
  readonly operation: AnyOperation;
  /** The operation's input from the request. */
  readonly input: (request: HttpInput) => unknown;
  /** What the request calls a field of the input: errors use these names. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** Default: 200 with the operation's output as it is. */
  readonly answer?: (output: never) => HttpAnswer;
  /** Whether the request has a JSON body; without one, a body is ignored. */
  readonly body?: 'required' | 'optional';
  /**
   * Served before express sees the request, which otherwise costs as much as a quick operation itself. For the few
   * routes whose rate matters, with a path without parameters; all else about them stays the same.
   */
  readonly fast?: true;
  /** For the OpenAPI document. */
  readonly doc: RouteDoc;
}

export interface RouteDoc {
  readonly operationId: string;
  readonly summary: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Full names of protobuf messages: `parley.v1.AgentManifest`. */
  readonly requestMessage?: string;
  readonly responseMessage?: string;
  readonly successStatus?: number;
  readonly security?: string;
}
