/*
 * Stands in for what the library of MCP takes from the platform, in the bundle: see [alias] in wrangler.toml. It would bring a
 * validator of JSON Schema, for forms that a server asks people to fill in. This server asks for none. The library also builds
 * its schemas as soon as it is loaded there; without that, it builds those that a request needs.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('This Worker validates no JSON Schema.')
  }
}

/** Only a server on standard input and output would use it. */
export const process = {}
