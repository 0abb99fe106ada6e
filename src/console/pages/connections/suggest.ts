import type { Runtime } from '../../../env'
import type { ConnectionRow } from '../../../inbox/connections/connection'
import { hex, hmac, utf8 } from '../../../lib/crypto'
import { vendorOf } from '../../../vendors'

/** Characters of a suggested secret: Lemon Squeezy takes at most 40. */
const LENGTH = 40

/**
 * A secret for a vendor whose webhooks are signed with a secret that the user chooses. It stays the same when
 * the page is reloaded, so that it still matches the one that was copied to the vendor. It is derived and not stored, and
 * changes with the connection: a secret that was removed is not suggested again.
 */
export async function suggestedSecret(rt: Runtime, { id, version }: ConnectionRow): Promise<string> {
  return derived(rt, `suggested secret:${id}:${version}`)
}

/**
 * A secret in the vendor's format, to try a connection on a local server without an account at the vendor. It stays the
 * same, so that the command that sends an example can contain it.
 */
export async function exampleSecret(
  rt: Runtime,
  { id, vendor }: Pick<ConnectionRow, 'id' | 'vendor'>,
): Promise<string> {
  return (vendorOf(vendor)?.secretBegins ?? '') + (await derived(rt, `example secret:${id}`))
}

async function derived(rt: Runtime, what: string): Promise<string> {
  return hex(await hmac('SHA-256', utf8(rt.settings.codePepper), what)).slice(0, LENGTH)
}
