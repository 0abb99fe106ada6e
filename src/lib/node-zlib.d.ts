/** What the Worker uses of Node.js: see `src/inbox/packing.ts`. The types of the package `@types/node` would name all the rest too. */
declare module 'node:zlib' {
  export function deflateRawSync(
    body: string | Uint8Array,
    options?: { dictionary: Uint8Array },
  ): Uint8Array<ArrayBuffer>
  /** @throws {RangeError} if there are more than `maxOutputLength` bytes; {Error} if the bytes are not deflated */
  export function inflateRawSync(
    bytes: Uint8Array,
    options: { maxOutputLength: number; dictionary?: Uint8Array },
  ): Uint8Array<ArrayBuffer>
}
