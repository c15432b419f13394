import type { FieldError } from '@parley/service-kit';

type Members = Readonly<Record<string, unknown>>;

/** One of them says what a part holds. */
const KINDS = ['text', 'raw', 'url', 'data'] as const;
const ROLES: readonly unknown[] = ['ROLE_USER', 'ROLE_AGENT', 1, 2];

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * What is wrong with the JSON of a message of protocol 1.0, before it is converted: conversion turns a wrong type
 * into something that looks right (a number into text, a second content into nothing).
 */
export function messageShapeFaults(message: unknown): FieldError[] {
  return faultsOf(message, (value) => ROLES.includes(value), partFault);
}

/** The same for protocol 0.3 over JSON-RPC. */
export function legacyMessageShapeFaults(message: unknown): FieldError[] {
  return faultsOf(message, (value) => value === 'user' || value === 'agent', legacyPartFault);
}

function faultsOf(
  message: unknown,
  isRole: (value: unknown) => boolean,
  faultOfPart: (part: unknown) => string | undefined,
): FieldError[] {
  if (!isObject(message)) return [{ path: 'message', message: 'must be an object' }];
  const faults: FieldError[] = [];
  const complain = (path: string, text: string): void => {
    faults.push({ path: `message.${path}`, message: text });
  };
  const { messageId, role, parts } = message;
  if (typeof messageId !== 'string' || messageId === '') complain('messageId', 'must be a text that is not empty');
  if (!isRole(role)) complain('role', 'must be a role');
  for (const name of ['taskId', 'contextId'])
    if (!isAbsent(message[name]) && typeof message[name] !== 'string') complain(name, 'must be text');
  if (!isAbsent(message['metadata']) && !isObject(message['metadata'])) complain('metadata', 'must be an object');
  for (const name of ['extensions', 'referenceTaskIds'])
    if (!isAbsent(message[name]) && !isTexts(message[name])) complain(name, 'must be a list of texts');
  if (!Array.isArray(parts) || parts.length === 0) complain('parts', 'must be a list that is not empty');
  else
    parts.forEach((part: unknown, index) => {
      const fault = faultOfPart(part);
      if (fault !== undefined) complain(`parts[${String(index)}]`, fault);
    });
  return faults;
}

function partFault(part: unknown): string | undefined {
  if (!isObject(part)) return 'must be an object';
  const [kind, ...others] = KINDS.filter((name) => part[name] !== undefined);
  if (kind === undefined || others.length > 0) return `needs exactly one of ${KINDS.join(', ')}`;
  if (kind !== 'data' && typeof part[kind] !== 'string') return `${kind} must be text`;
  if (!isAbsent(part['metadata']) && !isObject(part['metadata'])) return 'metadata must be an object';
  return undefined;
}

function legacyPartFault(part: unknown): string | undefined {
  if (!isObject(part)) return 'must be an object';
  const { kind, text, file, data, metadata } = part;
  if (!isAbsent(metadata) && !isObject(metadata)) return 'metadata must be an object';
  if (kind === 'text') return typeof text === 'string' ? undefined : 'text must be text';
  if (kind === 'data') return data === undefined ? 'data must be a value' : undefined;
  if (kind !== 'file') return 'kind must be text, file or data';
  if (!isObject(file)) return 'file must be an object';
  const [held, ...others] = ['bytes', 'uri'].filter((name) => file[name] !== undefined);
  if (held === undefined || others.length > 0) return 'file needs exactly one of bytes, uri';
  return typeof file[held] === 'string' ? undefined : `file.${held} must be text`;
}

/** JSON's null is how some writers say that a member is not there. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
