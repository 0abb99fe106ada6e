import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { vendorOf } from '../../../vendors'
import { pathsOf } from '../../page'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { VENDOR_OPTIONS, VENDORS_WITH_STATE } from '../../ui/vendor-titles'

const hasState = ([name]: readonly [string, ...string[]]) => vendorOf(name)?.snapshots !== undefined

/** Vendors whose events become billing state come first. */
const BY_STATE = VENDOR_OPTIONS.toSorted((a, b) => Number(hasState(b)) - Number(hasState(a)))

/** The vendors, to choose the one to connect. */
export function choosePage(c: Context<HttpEnv>) {
  const { connections } = pathsOf(c)
  return show(
    c,
    { title: 'Connect a vendor', section: 'connections', above: ['Connections', connections] },
    <>
      <Head title="Connect a vendor" />
      <p class="quiet">
        Which vendor’s events do you want to receive? Events of {VENDORS_WITH_STATE.replace(' or ', ' and ')} also
        become subscriptions, invoices and payment methods. Events of every vendor are verified, recorded and
        searchable.
      </p>
      <ul class="vendors">
        {BY_STATE.map(([name, title]) => (
          <li>
            <a href={`${connections}/new?vendor=${name}`}>
              <strong>{title}</strong>
              <span class="quiet">{hasState([name]) ? 'Events and billing state' : 'Events'}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="quiet">
        Is your vendor missing? If it follows the Standard Webhooks specification, choose Standard Webhooks.
      </p>
    </>,
  )
}
