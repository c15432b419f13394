/**
 * A JSON value. Where a double would not print a number as it was written, the number is a raw JSON object
 * (`JSON.isRawJSON`), which `JSON.stringify` writes back letter by letter; see {@link numberOf}.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A JSON object. Ask `JSON.isRawJSON` first: a number in raw form has the look of one. */
export type JsonObject = Readonly<Record<string, Json>>;
