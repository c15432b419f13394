import { valid, validRange } from 'semver';
import { z } from 'zod';

/** 1-128 of `A-Z a-z 0-9 . _ -`, begins with a letter or digit. */
export const agentId = z
  .string()
  .min(1, 'must not be empty')
  .max(128, 'at most 128 characters')
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'letters, digits, ".", "_" and "-" only, beginning with a letter or digit');

/** 1-64 of `a-z A-Z 0-9 . _ : / -`. */
export const capabilityName = z
  .string()
  .min(1, 'must not be empty')
  .max(64, 'at most 64 characters')
  .regex(/^[A-Za-z0-9._:/-]+$/, 'letters, digits, ".", "_", ":", "/" and "-" only');

export const semanticVersion = z
  .string()
  .max(64, 'at most 64 characters')
  .refine((text) => valid(text) === text, 'not a semantic version (example: 1.2.3)');

export interface CapabilityRequirement {
  readonly name: string;
  /** A version range as of npm's semver; absent: any version, also none. */
  readonly range?: string;
}

const requirementPattern = /^([A-Za-z0-9._:/-]{1,64})(?:@(.{1,64}))?$/;

/** `name` or `name@range`. */
export const capabilityRequirement = z.string().transform((text, context): CapabilityRequirement => {
  const match = requirementPattern.exec(text);
  const [, name, range] = match ?? [];
  if (name === undefined) {
    context.addIssue({
      code: 'custom',
      message: text.trim() === '' ? 'must not be empty' : 'not a capability name, or name@range',
    });
    return z.NEVER;
  }
  if (range === undefined) return { name };
  if (validRange(range) === null) {
    context.addIssue({ code: 'custom', message: `"${range}" is not a version range (example: ^1.2)` });
    return z.NEVER;
  }
  return { name, range };
});

/** `host:port` and path of a peer: absolute http(s), no user info, no fragment, at most 2,048 bytes. */
export const endpointUrl = z.string().transform((text, context): string => {
  const wrong = endpointFault(text);
  if (wrong !== undefined) {
    context.addIssue({ code: 'custom', message: wrong });
    return z.NEVER;
  }
  return text;
});

function endpointFault(text: string): string | undefined {
  if (Buffer.byteLength(text) > 2_048) return 'at most 2,048 bytes';
  // The URL parser would drop these without a word.
  if (hasSpaceOrControl(text)) return 'must not contain spaces or control characters';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:\/\//i.test(text)) return 'not an absolute http or https URL';
  if (url.username !== '' || url.password !== '') return 'must not carry user info';
  if (text.includes('#')) return 'must not carry a fragment';
  return undefined;
}

function hasSpaceOrControl(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code <= 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** A text without control characters other than tab and line ends. */
export function plainText(max: number, min = 0): z.ZodType<string> {
  return z
    .string()
    .min(min, min === 1 ? 'must not be empty' : `at least ${String(min)} characters`)
    .max(max, `at most ${String(max)} characters`)
    .refine((text) => text.isWellFormed() && !hasForbiddenControl(text), 'must not contain control characters');
}

function hasForbiddenControl(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) || code === 0x7f) return true;
  }
  return false;
}

export const sessionId = plainText(128, 1);

/** base64url of a SHA-256 digest. */
export const sha256Base64Url = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'not base64url of a SHA-256 digest');

export const termsDigest = z
  .string()
  .regex(/^sha256:[A-Za-z0-9_-]{43}$/, 'not sha256: followed by base64url of a SHA-256 digest');

/** Names of parameters and labels that would change an object's prototype are refused everywhere. */
export const safeKey = z
  .string()
  .refine((key) => key !== '__proto__' && key !== 'constructor' && key !== 'prototype', 'this name is reserved');
