import type { PropsWithChildren } from 'hono/jsx'
import { CreateBody, UpdateConnectionBody } from '../../../inbox/connections/fields'
import { MAX_CONNECTION_NAME } from '../../../inbox/connections/limits'
import { vendorOf } from '../../../vendors'
import { form, own, text, tick } from '../../form'
import { pathsOf, type Visit } from '../../page'
import type { Mistakes, Sent } from '../../refusal'
import { Post, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { VendorLabel } from '../../ui/vendor'
import { VENDOR_OPTIONS, VENDORS_WITH_STATE, vendorTitle } from '../../ui/vendor-titles'
import { guideOf } from './guides'

/** The mode in a form. There is no default: without a choice, the form asks. */
const MODES: Record<string, boolean> = { true: true, false: false }

const fields = {
  name: text('Name', { required: true, maxlength: MAX_CONNECTION_NAME }),
  livemode: own((mode) => MODES[mode]),
}
export const NEW_CONNECTION = form(CreateBody, { ...fields, vendor: own((vendor) => vendor) })
/** The form that changes a connection, and those that only enable or disable it. */
export const CHANGED_CONNECTION = form(UpdateConnectionBody, {
  ...fields,
  status: own((status) => status || undefined),
  customer_is_external_id: tick('Customer ids are external ids of consumers', {
    hint: 'Each event then links its customer to the consumer with the same ID. Metadata is ignored.',
  }),
})

const hasState = ([name]: readonly [string, ...string[]]) => vendorOf(name)?.snapshots !== undefined

/** Vendors whose events become billing state come first. */
const BY_STATE = VENDOR_OPTIONS.toSorted((a, b) => Number(hasState(b)) - Number(hasState(a)))

/** The vendors, to choose the one to connect. */
export function chooseVendorPage(c: Visit) {
  const { connections } = pathsOf(c)
  return show(
    c,
    { title: 'Connect a vendor', section: 'connections', above: ['Connections', connections] },
    <>
      <Head title="Connect a vendor" />
      <p class="quiet">
        Which vendor’s events do you want to receive? Events of {VENDORS_WITH_STATE.replace(' or ', ' and ')} also
        become billing state, such as subscriptions, invoices or purchases. Events of every vendor are verified,
        recorded and searchable.
      </p>
      <ul class="vendors">
        {BY_STATE.map(([name]) => (
          <li>
            <a href={`${connections}/new?vendor=${name}`}>
              <strong>
                <VendorLabel name={name} />
              </strong>
              <span class="quiet">{hasState([name]) ? 'Events and billing state' : 'Events'}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="quiet">
        Is your vendor missing? If it follows the Standard Webhooks specification, choose Standard Webhooks. If it signs
        with HMAC in another way, choose HMAC sender and enter how it signs.
      </p>
    </>,
  )
}

/** The form for a new connection to a vendor. The secret comes later, because most vendors need the ingest URL first. */
export function connectPage(c: Visit, sent: Sent & { entered: URLSearchParams }) {
  const { mistakes, status, entered } = sent
  const vendor = entered.get('vendor') ?? ''
  const { connections } = pathsOf(c)
  const title = vendorTitle(vendor)
  return show(
    c,
    { title: `Connect ${title}`, section: 'connections', status, above: ['All vendors', `${connections}/new`] },
    <>
      <Head title={`Connect ${title}`} />
      <p class="quiet">{next(vendor, title)}</p>
      <Post c={c} to={connections} class="form">
        <Wrong>{mistakes.form ?? mistakes.vendor}</Wrong>
        <input type="hidden" name="vendor" value={vendor} />
        <ModeField title={title} value={entered.get('livemode') ?? ''} mistakes={mistakes} />
        {NEW_CONNECTION.field('name', sent, {
          hint: 'A name to tell your connections apart. You can change it later.',
        })}
        <button type="submit" class="primary">
          Create connection
        </button>
      </Post>
    </>,
  )
}

/** What comes after this form. */
function next(vendor: string, title: string): string {
  return guideOf(vendor)?.secret === 'vendor'
    ? `The next page has the URL to enter at ${title}. ${title} then shows a signing secret, which you enter here.`
    : `The next page has the URL to enter at ${title}, and says which secret its deliveries are verified with.`
}

type ModeProps = PropsWithChildren<{ title: string; value: string; mistakes: Mistakes }>

/** Asks which of the vendor's accounts sends the events. */
export function ModeField({ title, value, mistakes, children }: ModeProps) {
  const wrong = mistakes.livemode
  return (
    <fieldset aria-describedby={wrong ? 'livemode-wrong' : undefined}>
      <legend>Which {title} account sends the events?</legend>
      <Choice value="false" of={value} label="Test" hint="A test mode or sandbox account. No real money moves." />
      <Choice value="true" of={value} label="Live" hint="The account with real customers and payments." />
      {children}
      {wrong && <Wrong id="livemode-wrong">Choose test or live.</Wrong>}
    </fieldset>
  )
}

function Choice({ value, of, label, hint }: { value: string; of: string; label: string; hint: string }) {
  return (
    <label class="option">
      <input type="radio" name="livemode" value={value} checked={value === of} required />
      <span>
        <strong>{label}</strong> <span class="quiet">{hint}</span>
      </span>
    </label>
  )
}
