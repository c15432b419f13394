import { randomUUID } from 'node:crypto';
import type { Json, SeenEvent, SeenMessage, SeenPushConfig, SeenTask } from './seen.js';

export type Binding = 'JSON-RPC' | 'HTTP+JSON' | 'gRPC';
export type Version = '1.0' | '0.3';

export interface Outgoing {
  /** What the agent does: how the message id begins. */
  readonly scenario: string;
  readonly text?: string;
  /** Only 1.0. */
  readonly mediaType?: string;
  readonly taskId?: string;
  readonly contextId?: string;
}

export interface SendOptions {
  readonly immediately?: boolean;
  readonly historyLength?: number;
  readonly push?: { readonly url: string; readonly token?: string; readonly credentials?: string };
}

export interface ListQuery {
  readonly contextId?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly status?: string;
  readonly includeArtifacts?: boolean;
  readonly historyLength?: number;
}

export interface TaskPage {
  readonly tasks: readonly SeenTask[];
  readonly totalSize: number;
  readonly pageSize: number;
  readonly nextPageToken: string;
}

/** A refusal as the wire tells it. */
export class Refusal extends Error {
  /** JSON-RPC code, HTTP status or name of the gRPC status. */
  readonly code: number | string;
  /** Of the ErrorInfo; 0.3 has none over HTTP. */
  readonly reason: string | undefined;
  readonly domain: string | undefined;

  constructor(code: number | string, message: string, info?: { readonly reason?: string; readonly domain?: string }) {
    super(message);
    this.code = code;
    this.reason = info?.reason;
    this.domain = info?.domain;
  }
}

/** Where the agent listens. */
export interface Address {
  readonly url: string;
  readonly grpcTarget: string;
}

/** One binding of one version, spoken with requests written by hand. Every refusal is thrown as a {@link Refusal}. */
export interface Voice {
  readonly binding: Binding;
  readonly version: Version;
  send(message: Outgoing, options?: SendOptions): Promise<SeenTask | SeenMessage>;
  /** Refused before its first event, or a stream of events. Returning early hangs up. */
  stream(message: Outgoing, options?: SendOptions): AsyncGenerator<SeenEvent>;
  subscribe(taskId: string): AsyncGenerator<SeenEvent>;
  get(taskId: string, historyLength?: number): Promise<SeenTask>;
  cancel(taskId: string): Promise<SeenTask>;
  /** Only 1.0. */
  list(query: ListQuery): Promise<TaskPage>;
  extendedCard(): Promise<Json>;
  createPush(taskId: string, config: { readonly id: string; readonly url: string }): Promise<SeenPushConfig>;
  getPush(taskId: string, id: string): Promise<SeenPushConfig>;
  listPush(taskId: string): Promise<readonly SeenPushConfig[]>;
  deletePush(taskId: string, id: string): Promise<void>;
  /** As `send`, with other headers or metadata. @returns what came back of the extensions header. */
  activated(message: Outgoing, extensions: string): Promise<string>;
  close(): void;
}

export const messageId = ({ scenario }: Outgoing): string => `${scenario}-${randomUUID()}`;

/** As 1.0 writes a request: its protocol buffer's JSON form, which all three bindings share. */
export function sendRequest10(message: Outgoing, options: SendOptions = {}): Json {
  const { immediately, historyLength, push } = options;
  const configuration = {
    ...(immediately === undefined ? {} : { returnImmediately: immediately }),
    ...(historyLength === undefined ? {} : { historyLength }),
    ...(push === undefined ? {} : { taskPushNotificationConfig: pushOf10(push) }),
  };
  return {
    message: {
      messageId: messageId(message),
      role: 'ROLE_USER',
      parts: [
        { text: message.text ?? 'hello', ...(message.mediaType === undefined ? {} : { mediaType: message.mediaType }) },
      ],
      ...(message.taskId === undefined ? {} : { taskId: message.taskId }),
      ...(message.contextId === undefined ? {} : { contextId: message.contextId }),
    },
    ...(Object.keys(configuration).length === 0 ? {} : { configuration }),
  };
}

function pushOf10({ url, token, credentials }: NonNullable<SendOptions['push']>): Json {
  const authentication = credentials === undefined ? {} : { authentication: { scheme: 'Bearer', credentials } };
  return { url, ...(token === undefined ? {} : { token }), ...authentication };
}

export function pageOf(body: Json, taskOf: (task: Json) => SeenTask): TaskPage {
  const { tasks = [], totalSize = 0, pageSize = 0, nextPageToken = '' } = body;
  return { tasks: tasks.map(taskOf), totalSize, pageSize, nextPageToken };
}
