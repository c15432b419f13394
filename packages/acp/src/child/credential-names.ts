/** Words of a name that stand for a credential on their own. */
const WORDS = new Set(
  'AUTH AUTHORIZATION BEARER COOKIE COOKIES CREDENTIAL CREDENTIALS CREDS DSN JWT KEY KEYS PASS PASSPHRASE PASSPHRASES PASSWD PASSWORD PASSWORDS PAT PWD SECRET SECRETS TOKEN TOKENS'.split(
    ' ',
  ),
);

/** Ends of words that are written in one with what comes before: PGPASSWORD, GITHUBTOKEN. */
const ENDS = /(?:ACCESSKEY|APIKEY|PASSPHRASE|PASSWD|PASSWORD|PRIVATEKEY|SECRETKEY|SECRET|TOKEN|CREDENTIALS?)$/u;

/** Names of what is no password though it is called like one: the working folder. */
const HARMLESS = new Set(['PWD', 'OLDPWD']);

/** Whether a variable is called like one that holds a credential. Whole words count: MONKEY and AUTHOR hold none. */
export function isCredentialName(name: string): boolean {
  if (HARMLESS.has(name.toUpperCase())) return false;
  const words = wordsOf(name);
  if (words.some((word) => WORDS.has(word) || ENDS.test(word))) return true;
  const joined = words.join('_');
  return joined.includes('CONNECTION_STRING') || words.includes('CONNSTR');
}

/** Also of names such as `npm_config_//host/:_authToken`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/gu, '$1_$2')
    .split(/[^A-Za-z0-9]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toUpperCase());
}
