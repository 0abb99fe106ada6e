import type { Runtime } from '../../../env'
import type { ConnectionRow } from '../../../inbox/connections/store'
import { hex, hmac, utf8 } from '../../../lib/crypto'

/** Characters of a suggested secret: Lemon Squeezy takes at most 40. */
const LENGTH = 40

/**
 * A secret for a vendor whose webhooks are signed with a secret that the user chooses. It stays the same when
 * the page is reloaded, so that it still matches the one that was copied to the vendor. It is derived and not stored, and
 * changes with the connection: a secret that was removed is not suggested again.
 */
export async function suggestedSecret(rt: Runtime, { id, version }: ConnectionRow): Promise<string> {
  const mac = await hmac('SHA-256', utf8(rt.settings.codePepper), `suggested secret:${id}:${version}`)
  return hex(mac).slice(0, LENGTH)
}
