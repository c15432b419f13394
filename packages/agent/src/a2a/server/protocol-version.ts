const PATCH = /^(\d+\.\d+)\.\d+$/;

/** The version without its patch number, which says nothing about the wire; undefined if none was said. */
export function minorVersion(said: string | undefined): string | undefined {
  const version = said?.trim();
  if (version === undefined || version === '') return undefined;
  return PATCH.exec(version)?.[1] ?? version;
}

export const CURRENT = '1.0';
export const LEGACY = '0.3';

/** Whether the version is served; a request that says none means 0.3. */
export function isServed(version: string | undefined, compat: boolean): boolean {
  return version === CURRENT || (compat && (version === undefined || version === LEGACY));
}

export function unservedSentence(version: string | undefined, compat: boolean): string {
  const said = version === undefined ? 'A request without a version means 0.3, which' : `Version ${quoted(version)}`;
  return `${said} is not served; served: ${compat ? `${CURRENT}, ${LEGACY}` : CURRENT}.`;
}

function quoted(version: string): string {
  return JSON.stringify(version.slice(0, 20).toWellFormed());
}
