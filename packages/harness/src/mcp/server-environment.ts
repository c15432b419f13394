/** Variables without which programs do not find their files or their language. None of them holds a credential. */
const INHERITED = new Set(['HOME', 'LANG', 'LANGUAGE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']);

/** A server's environment: a short list of harmless variables of this process, then what its configuration names. */
export function serverEnvironment(
  inherited: Readonly<Record<string, string | undefined>>,
  configured: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && isHarmless(name, value)) environment[name] = value;
  }
  return { ...environment, ...configured };
}

function isHarmless(name: string, value: string): boolean {
  // A value that begins like this is a shell function, which some shells run while they start.
  if (value.startsWith('()')) return false;
  return INHERITED.has(name) || name.startsWith('LC_');
}
