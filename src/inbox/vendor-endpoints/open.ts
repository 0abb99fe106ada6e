import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { isLocalhost } from '../../lib/localhost'
import { sealContext, unseal } from '../../lib/seal'
import { VENDORS, vendorOf } from '../../vendors'
import type { VendorEndpoints } from '../../vendors/endpoints'
import type { Vendor } from '../../vendors/vendor'
import type { Connection } from '../connections/connection'
import type { ExpectedEndpoint, OpenedSecret } from './find-own'

const VENDORS_OF_ENDPOINTS = Object.values(VENDORS as Record<string, Vendor>).flatMap(
  ({ endpoints }) => endpoints?.vendor ?? [],
)
/** The vendors where the service creates and checks endpoints, in words. */
export const VENDORS_WITH_ENDPOINTS = new Intl.ListFormat('en').format(VENDORS_OF_ENDPOINTS)

/** @throws {Fault} `vendor_endpoint_unsupported` */
export function requireEndpoints(vendor: string): VendorEndpoints {
  const api = vendorOf(vendor)?.endpoints
  if (api) return api
  throw new Fault(
    'vendor_endpoint_unsupported',
    `The service sets up webhook endpoints only at ${VENDORS_WITH_ENDPOINTS}. Add this one at the vendor yourself.`,
  )
}

/** Whether a vendor can reach an address. */
export function isPublicUrl(url: string): boolean {
  const parsed = URL.parse(url)
  return parsed?.protocol === 'https:' && !isLocalhost(parsed.hostname)
}

/** What the endpoints of a connection's vendor are compared with. @param url the ingest URL */
export async function expectedOf(
  { settings }: Runtime,
  connection: Pick<Connection, 'id' | 'project_id' | 'secrets' | 'secrets_used'>,
  url: string,
): Promise<ExpectedEndpoint> {
  const { id, project_id, secrets, secrets_used } = connection
  const opened = secrets.map(async (secret): Promise<OpenedSecret> => {
    const context = sealContext(project_id, id, secret.id)
    const text = await unseal(settings.encryptionKeys, secret, context).catch(() => null)
    return { id: secret.id, text, used_at: secrets_used[secret.id] ?? null }
  })
  return { id, url, secrets: await Promise.all(opened) }
}
