import type { Child } from 'hono/jsx'
import type { VendorName } from '../../../vendors'

/** Where to create an API key at each vendor whose keys the service takes. From the vendors' documentation. */
export const KEY_GUIDES: Partial<Record<VendorName, Child>> = {
  gocardless: (
    <>
      In the GoCardless dashboard, open <strong>Developers</strong>, click <strong>Create</strong>, choose{' '}
      <strong>Access token</strong>, and select <strong>Read-only access</strong>. GoCardless does not tell this service
      whether a token can also write: never enter one with read-write access.
    </>
  ),
  paddle: (
    <>
      In Paddle, open <strong>Developer tools → Authentication</strong>, and create an API key with the permissions
      below. A key that can write is refused.
    </>
  ),
  revenuecat: (
    <>
      In RevenueCat, open <strong>Project settings → API keys</strong>, and create a secret key of version{' '}
      <strong>V2</strong> with the permission below, set to read. Enter the project’s ID, a colon and the key:{' '}
      <code>proj…:sk_…</code>. The service needs the project’s ID for every request.
    </>
  ),
  stripe: (
    <>
      On the <strong>API keys</strong> page of the Stripe Dashboard, click <strong>Create restricted key</strong>, and
      choose <strong>Read</strong> for the resources below. Choose <strong>None</strong> for all others: Stripe does not
      tell this service what else a key can do.
    </>
  ),
}
