import * as z from 'zod'
import { publicUrl } from '../../../http/origin'
import type { ConnectionRow } from '../../../inbox/connections/connection'
import { SetUpBody } from '../../../inbox/vendor-endpoints/fields'
import { consequenceOf } from '../../../inbox/vendor-endpoints/findings'
import { MAX_ACCOUNT_LENGTH, MAX_WRITE_KEY_LENGTH } from '../../../inbox/vendor-endpoints/limits'
import { isPublicUrl } from '../../../inbox/vendor-endpoints/open'
import type { VendorEndpointRow } from '../../../inbox/vendor-endpoints/store'
import { vendorOf } from '../../../vendors'
import type { AccountName, VendorEndpoints } from '../../../vendors/endpoints'
import { form, text, tick } from '../../form'
import { can, type Visit } from '../../page'
import type { Mistakes, Sent } from '../../refusal'
import { Badge } from '../../ui/badge'
import { Post, Wrong } from '../../ui/controls'
import { capital } from '../../ui/format'
import { Id } from '../../ui/id'
import { Fact, Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { connectionPath } from './describe'
import type { ShownConnection } from './read'

const { account, dry_run } = SetUpBody.shape

/** The field has another name than the stored key, because both forms are on the same page. */
export const SET_UP = form(z.strictObject({ write_key: SetUpBody.shape.api_key, account, dry_run }), {
  account: text('Account', { maxlength: MAX_ACCOUNT_LENGTH }),
  dry_run: tick('Check only, and change nothing at the vendor'),
  write_key: text('API key that may change webhook endpoints', {
    required: true,
    type: 'password',
    autocomplete: 'off',
    maxlength: MAX_WRITE_KEY_LENGTH,
    hint: 'The service uses the key once and does not store it.',
  }),
})

type SetUpProps = { c: Visit; row: ConnectionRow; sent: Sent; label: string }

/** The form that creates or repairs the endpoint. Renders nothing where that is not possible. */
export function SetUpForm({ c, row, sent, label }: SetUpProps) {
  const { mistakes } = sent
  const api = vendorOf(row.vendor)?.endpoints
  if (!api || !can(c, 'connections:write') || !isPublicUrl(publicUrl(c, '/'))) return null
  return (
    <details class="more-form" open={Object.keys(mistakes).length > 0}>
      <summary>{label}</summary>
      <p>
        The service creates the webhook endpoint at {vendorTitle(row.vendor)}, selects the events and stores the signing
        secret. If it has created one before, it repairs that one. Other endpoints stay as they are. Create a key
        {api.permission && ` with the permission ${api.permission}`}, and delete it afterwards.
      </p>
      <Post c={c} to={`${connectionPath(c, row)}/endpoint`} class="form">
        {SET_UP.field('write_key', sent)}
        {api.account && SET_UP.field('account', sent, lookOf(api.account))}
        {SET_UP.field('dry_run', sent)}
        <Wrong>{mistakes.form}</Wrong>
        <button type="submit">{label}</button>
      </Post>
    </details>
  )
}

/** The name of the account, as a field. */
function lookOf({ noun, where, list }: AccountName) {
  const hint = list ? `Only if the key can reach several accounts. ${where}` : where
  return { label: capital(noun), hint, required: !list }
}

type Props = { c: Visit; of: ShownConnection; sent: Sent; mistakesOfCheck: Mistakes }

/** What the last check of the endpoint at the vendor found, with forms to check it again and to repair it. */
export function EndpointAtVendor({ c, of: { row, key, checked }, sent, mistakesOfCheck }: Props) {
  const api = vendorOf(row.vendor)?.endpoints
  if (!api) return null
  const { vendor, reading } = api
  const at = `${connectionPath(c, row)}/endpoint`
  const wrong = (checked?.result?.findings.length ?? 0) > 0
  return (
    <>
      <h2 id="endpoint">Webhook endpoint at {vendor}</h2>
      {checked && <Found c={c} api={api} checked={checked} />}
      {key?.state === 'ok' ? (
        <Post c={c} to={`${at}/check`}>
          <input type="hidden" name="check" value="now" />
          <Wrong>{mistakesOfCheck.form}</Wrong>
          <button type="submit">Check now</button>
        </Post>
      ) : (
        <p class="quiet">
          {reading === undefined
            ? `The service stores no ${vendor} API key, so it checks the endpoint only when you enter one.`
            : 'With a read-only API key, the service checks the endpoint once a day.'}
        </p>
      )}
      <SetUpForm c={c} row={row} sent={sent} label={wrong ? 'Repair' : 'Create or repair the endpoint with a key'} />
    </>
  )
}

function Found({ c, api, checked }: { c: Visit; api: VendorEndpoints; checked: VendorEndpointRow }) {
  const { vendor } = api
  const { checked_at, result, error } = checked
  return (
    <>
      {error && (
        <p class="warning" role="note">
          {error === 'permission_missing'
            ? `The API key cannot read webhook endpoints. It needs the permission ${api.reading}.`
            : `The last check failed, because ${vendor} did not send a usable response. The service tries again within an hour.`}
        </p>
      )}
      {result && checked_at !== null && (
        <>
          <dl class="facts">
            {result.endpoint && (
              <Fact name="Endpoint">
                <Id>{result.endpoint.id}</Id> <Badge of={result.endpoint.enabled ? 'enabled' : 'disabled'} />
              </Fact>
            )}
            <Fact name="Checked">
              <Time at={checked_at} now={c.get('rt').now} />
            </Fact>
          </dl>
          {result.findings.map((one) => (
            <p class="warning" role="note">
              {consequenceOf(one, vendor)}
            </p>
          ))}
          {result.findings.length === 0 && <p class="quiet">No problems were found.</p>}
        </>
      )}
    </>
  )
}
