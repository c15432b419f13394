import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '@parley/harness';
import { set } from '../read-values.js';
import { UsageError } from '../usage-error.js';

/** What a proxy asks for, in characters. */
const MIN_CHARACTERS = 22;
const MAX_CHARACTERS = 1_000;
const TOKEN_BYTES = 24;

export interface TokenPlace {
  readonly proxyUrl: string;
  /** Absolute; undefined: the environment's, or one that is made and kept. */
  readonly file: string | undefined;
  /** Absolute: the folder of tokens that are made. */
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface DriverToken {
  readonly token: string;
  /** Where it is from, for people. */
  readonly source: string;
}

/**
 * The driver's token: of the file, of `PARLEY_PROXY_TOKEN`, or one of its own for each proxy, made at random and kept
 * where only its owner can read it, so that a driver that is started again goes on.
 *
 * @throws UsageError if there is none to be had, or it is too short.
 */
export async function driverToken({ proxyUrl, file, stateDir, env }: TokenPlace): Promise<DriverToken> {
  if (file !== undefined) return { token: checked(await read(file), file), source: file };
  const given = set(env['PARLEY_PROXY_TOKEN']);
  if (given !== undefined) return { token: checked(given.trim(), 'PARLEY_PROXY_TOKEN'), source: 'PARLEY_PROXY_TOKEN' };
  const name = createHash('sha256').update(proxyUrl).digest('hex').slice(0, 16);
  const kept = join(stateDir, `${name}.token`);
  const isKept = await stat(kept).then(
    () => true,
    () => false,
  );
  return { token: checked(await (isKept ? read(kept) : keep(kept, stateDir)), kept), source: kept };
}

/** Two drivers that start at once get one token: it is linked to its place whole, and only if there is none. */
async function keep(file: string, folder: string): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(draft, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    await link(draft, file).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    });
  } catch (error) {
    throw new UsageError(`cannot keep a token: ${messageOf(error)}`, { cause: error });
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
  return read(file);
}

async function read(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new UsageError(`cannot read the token: ${messageOf(error)}`, { cause: error });
  }
}

/** @throws UsageError which does not tell it. */
function checked(token: string, source: string): string {
  const { length } = Array.from(token);
  if (length >= MIN_CHARACTERS && length <= MAX_CHARACTERS && token.isWellFormed()) return token;
  throw new UsageError(`${source}: a token has ${MIN_CHARACTERS} to ${MAX_CHARACTERS} characters`);
}
