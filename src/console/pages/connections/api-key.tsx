import type { ConnectionRow } from '../../../inbox/connections/connection'
import { ApiKeyBody } from '../../../inbox/vendor-api/fields'
import type { VendorKeyRow } from '../../../inbox/vendor-api/keys'
import { MAX_API_KEY_LENGTH } from '../../../inbox/vendor-api/limits'
import { type VendorName, vendorOf } from '../../../vendors'
import type { ApiRead, VendorApi } from '../../../vendors/api'
import { form, text } from '../../form'
import { can, type Visit } from '../../page'
import type { Mistakes } from '../../refusal'
import { Badge, ModeBadge } from '../../ui/badge'
import { Post, Wrong } from '../../ui/controls'
import { sentence } from '../../ui/format'
import { Fact, Time } from '../../ui/parts'
import { Table } from '../../ui/table'
import { connectionPath } from './describe'
import { KEY_GUIDES } from './key-guides'
import type { ShownConnection } from './read'

export const API_KEY = form(ApiKeyBody, {
  api_key: text('API key', {
    required: true,
    type: 'password',
    autocomplete: 'off',
    maxlength: MAX_API_KEY_LENGTH,
    hint: 'The service checks the key, then stores it encrypted. It is never shown again.',
  }),
})

type Props = { c: Visit; of: ShownConnection; mistakes: Mistakes }

/** The key of the vendor's API, with a form to set it. Nothing for a vendor whose API keys the service does not take. */
export function ApiKey({ c, of: { row, key, names }, mistakes }: Props) {
  const api = vendorOf(row.vendor)?.api
  if (!api) return null
  return (
    <>
      <h2 id="api-key">{api.vendor} API key</h2>
      <p class="quiet">
        With a key, this service can {api.imports && 'import data from the account, and '}read a customer from{' '}
        {api.vendor} instead of waiting for an event.{' '}
        {!api.thin?.all
          ? 'It does not need a key to receive events.'
          : `${api.vendor} events contain only the ID of an object, so without a key they do not update billing state.`}
      </p>
      {key && <Shown c={c} api={api} stored={key} names={names} />}
      {can(c, 'connections:write') && <SetKey c={c} api={api} row={row} isThere={key !== null} mistakes={mistakes} />}
    </>
  )
}

type ShownProps = { c: Visit; api: VendorApi; stored: VendorKeyRow; names: ReadonlyMap<string, string> }

function Shown({ c, api, stored, names }: ShownProps) {
  const { now } = c.get('rt')
  const { hint, state, account, added_by, checked_at, permissions } = stored
  return (
    <>
      {state === 'refused' && (
        <p class="warning" role="note">
          {api.vendor} no longer accepts this key. Set a different key, or set this one again once it works.
        </p>
      )}
      <dl class="facts">
        <Fact name="Key">
          <code>…{hint}</code> <Badge of={state} />
        </Fact>
        <Fact name="Mode">
          <ModeBadge of={stored.livemode} />
        </Fact>
        <Fact name="Account">
          {account === 'same'
            ? 'The account of this connection’s events'
            : 'Not yet compared with this connection’s events'}
        </Fact>
        <Fact name="Set by">{names.get(added_by) ?? <code>{added_by}</code>}</Fact>
        <Fact name="Checked">
          <Time at={checked_at} now={now} />
        </Fact>
      </dl>
      <p class="quiet">What the key could read when it was checked:</p>
      <Table
        label="Permissions of the key"
        rows={api.reads}
        columns={[
          ['What', ({ kind }: ApiRead) => sentence(kind.replaceAll('_', ' ')).replace(/\.$/, '')],
          ['Permission', ({ permission }) => <code>{permission}</code>],
          ['Can read', ({ kind }) => <Badge of={permissions[kind] ?? 'refused'} />],
        ]}
      />
    </>
  )
}

type SetProps = { c: Visit; api: VendorApi; row: ConnectionRow; isThere: boolean; mistakes: Mistakes }

function SetKey({ c, api, row, isThere, mistakes }: SetProps) {
  const at = `${connectionPath(c, row)}/api-key`
  return (
    <>
      <details class="more-form" open={Boolean(mistakes.api_key ?? mistakes.form)}>
        <summary>{isThere ? 'Replace the key' : 'Add a key'}</summary>
        <p>{KEY_GUIDES[row.vendor as VendorName]}</p>
        <p>
          The key should have these permissions and no others, as far as {api.vendor} lets you choose them:{' '}
          {api.reads.map(({ permission }) => permission).join(', ')}. If one is missing, the service does not fetch
          those objects.
        </p>
        <Post c={c} to={at} class="form">
          {API_KEY.field('api_key', { mistakes })}
          <Wrong>{mistakes.form}</Wrong>
          <button type="submit">{isThere ? 'Replace key' : 'Add key'}</button>
        </Post>
      </details>
      {isThere && (
        <a class="button" href={`${at}/remove`} data-dialog>
          Remove key
        </a>
      )}
    </>
  )
}
