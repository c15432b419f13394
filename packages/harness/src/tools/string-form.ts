/** `String(value)` for values that may refuse even that, such as revoked proxies and objects without a prototype. */
export function stringForm(value: unknown, unreadable: string): string {
  try {
    return String(value);
  } catch {
    return unreadable;
  }
}
