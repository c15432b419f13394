/** What stands where a secret was. */
export const REDACTED = '[redacted]';

const MAX_TEXT_LENGTH = 8 * 1024;

/** Takes credentials out of running text: `redis://user:password@host`, `Bearer ...`. */
export function redactText(text: string): string {
  const cut = text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}...` : text;
  const noUrls = cut.includes('@') ? cut.replaceAll(/(:\/\/)[^\s/@]*@/g, `$1${REDACTED}@`) : cut;
  return /bearer /i.test(noUrls) ? noUrls.replaceAll(/(bearer +)[^\s"',]+/gi, `$1${REDACTED}`) : noUrls;
}
