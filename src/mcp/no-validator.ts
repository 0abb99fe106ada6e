/*
 * Replaces the MCP library's platform shim in the bundle (see [alias] in wrangler.toml). The original brings a JSON Schema validator
 * for elicitation, which this server does not use. The library also builds its schemas as soon as it is loaded with the original.
 * Without that, it builds those that a request needs.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('This Worker validates no JSON Schema.')
  }
}

/** Only a server on standard input and output would use it. */
export const process = {}
