import { sleep } from '../../scripts/lib/terminal.ts'

/** Reads until something is there. */
export async function foundBy(read: () => Promise<string | null | undefined>): Promise<string> {
  for (let tries = 0; tries < 100; tries++, await sleep(100)) {
    const found = await read()
    if (found) return found
  }
  throw new Error('nothing was found in time')
}
