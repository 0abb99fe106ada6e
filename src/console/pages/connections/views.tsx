import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import type { Page } from '../../../http/page'
import { ingestUrl } from '../../../inbox/connections/present'
import type { ConnectionRow } from '../../../inbox/connections/store'
import { Fault } from '../../../lib/fault'
import { idTime } from '../../../lib/ids'
import { can, type Mistakes } from '../../page'
import { projectPaths } from '../../paths'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Badge, Confirm, Copyable, Fact, Field, Head, More, Post, Select, Table, Time, Wrong } from '../../ui/parts'
import { secretHint, VENDOR_OPTIONS, vendorTitle } from '../../ui/vendors'

type Status = 200 | 409 | 422
const section = 'connections'
const pathOf = (c: Context<HttpEnv>, id = '') => {
  const { connections } = projectPaths(projectOf(c.get('actor')))
  return id === '' ? connections : `${connections}/${id}`
}
const lastOf = (row: ConnectionRow) => (row.last_event_id === null ? null : idTime(row.last_event_id))
const modeOf = (row: ConnectionRow) => (row.livemode ? 'Live' : 'Test')

/** The list of connections, or what a first one is for. */
export function listPage(c: Context<HttpEnv>, { data: rows, next_cursor }: Page<ConnectionRow>) {
  const { now } = c.get('rt')
  const add = can(c, 'connections:write') && (
    <a class="button primary" href={`${pathOf(c)}/new`}>
      Connect a vendor
    </a>
  )
  const empty = rows.length === 0 && c.req.query('cursor') === undefined
  return show(
    c,
    { title: 'Connections', section },
    <>
      <Head title="Connections">{add}</Head>
      {empty ? (
        <section class="empty">
          <h2>No billing vendor is connected</h2>
          <p>
            A connection gives you an address for the vendor's webhooks. Every event sent there is checked against your
            signing secret, recorded, and then processed.
          </p>
          {add || <p>Ask an admin of the project to connect one.</p>}
        </section>
      ) : (
        <Table
          label="Connections"
          heads={['Name', 'Vendor', 'Mode', 'Status', 'Last event', 'Secrets', 'Created']}
          rows={rows.map((row) => [
            <a href={pathOf(c, row.id)}>{row.name}</a>,
            vendorTitle(row.vendor),
            modeOf(row),
            <Badge of={row.status} />,
            <Time at={lastOf(row)} now={now} />,
            row.secrets.length,
            <Time at={row.created_at} now={now} />,
          ])}
        />
      )}
      <More c={c} cursor={next_cursor} />
    </>,
  )
}

/** The form of a new connection. What was typed as its secret is not sent back. */
export function connectPage(
  c: Context<HttpEnv>,
  entered: { vendor: string; name: string; livemode: string },
  mistakes: Mistakes = {},
  status: Status = 200,
) {
  return show(
    c,
    { title: 'Connect a vendor', section, status, above: ['Connections', pathOf(c)] },
    <>
      <Head title="Connect a vendor" />
      <Post c={c} to={pathOf(c)} class="form">
        <Wrong>{mistakes.form}</Wrong>
        <div class="pair">
          <Field name="vendor" label="Vendor" mistakes={mistakes}>
            <Select name="vendor" value={entered.vendor} options={VENDOR_OPTIONS} />
          </Field>
          <Field name="livemode" label="Mode">
            <Select
              name="livemode"
              value={entered.livemode}
              options={[
                ['false', 'Test'],
                ['true', 'Live'],
              ]}
            />
          </Field>
        </div>
        <Field
          name="name"
          label="Name"
          value={entered.name}
          required
          maxlength={100}
          mistakes={mistakes}
          hint="To tell it by, such as “Stripe, test mode”."
        />
        <SecretField mistakes={mistakes} vendors={VENDOR_OPTIONS.map(([name]) => name)} />
        <button type="submit" class="primary">
          Connect
        </button>
      </Post>
    </>,
  )
}

/** Names what each of these vendors calls its secret; where there are several, a script leaves the chosen one's. */
function SecretField({ mistakes, vendors }: { mistakes: Mistakes; vendors: readonly string[] }) {
  return (
    <Field
      name="signing_secret"
      label="Signing secret"
      type="password"
      required
      maxlength={4096}
      mistakes={mistakes}
      hint={
        <>
          {vendors.map((name) => (
            <span data-vendor={name}>{secretHint(name)}</span>
          ))}
          <span>It is stored encrypted and never shown again.</span>
        </>
      }
    />
  )
}

/** A connection: its address, its secrets, its settings. */
export function connectionPage(c: Context<HttpEnv>, row: ConnectionRow, mistakes: Mistakes = {}, status: Status = 200) {
  const { now } = c.get('rt')
  const write = can(c, 'connections:write')
  const at = pathOf(c, row.id)
  return show(
    c,
    { title: row.name, section, status, above: ['Connections', pathOf(c)] },
    <>
      <Head
        title={
          <>
            {row.name} <Badge of={row.status} />
          </>
        }
      >
        <a class="button" href={`${projectPaths(projectOf(c.get('actor'))).events}?connection_id=${row.id}`}>
          Its events
        </a>
      </Head>
      <h2>Ingest address</h2>
      <Copyable id="ingest-url" label="ingest address">
        {ingestUrl(c.req.url, row.id)}
      </Copyable>
      <p class="quiet">
        Give this address to {vendorTitle(row.vendor)} as the webhook endpoint, with the events you want to record.
      </p>
      <dl class="facts">
        <Fact name="Vendor">{vendorTitle(row.vendor)}</Fact>
        <Fact name="Mode">{modeOf(row)}</Fact>
        <Fact name="Last event">
          <Time at={lastOf(row)} now={now} />
        </Fact>
        <Fact name="Created">
          <Time at={row.created_at} now={now} />
        </Fact>
        <Fact name="Id">
          <code>{row.id}</code>
        </Fact>
      </dl>
      <h2>Signing secrets</h2>
      <p class="quiet">
        A delivery may be signed with any of these. To rotate, add the new one, let the vendor switch, then remove the
        old one.
      </p>
      <Table
        label="Signing secrets"
        heads={['Secret', 'Added', 'Last used', ...(write ? [''] : [])]}
        rows={row.secrets.map((secret) => [
          <code>…{secret.hint}</code>,
          <Time at={secret.created_at} now={now} />,
          <Time at={row.secrets_used[secret.id] ?? null} now={now} />,
          ...(write
            ? [
                <a class="button" href={`${at}/secrets/${secret.id}/remove`} data-dialog>
                  Remove<span class="unseen"> {secretName(secret.hint)}</span>
                </a>,
              ]
            : []),
        ])}
      />
      {write && (
        <>
          <Post c={c} to={`${at}/secrets`} class="form">
            <SecretField mistakes={mistakes} vendors={[row.vendor]} />
            <Wrong>{mistakes.form}</Wrong>
            <button type="submit">Add secret</button>
          </Post>
          <h2>Settings</h2>
          <Post c={c} to={at} class="form">
            <Field name="name" label="Name" value={row.name} required maxlength={100} mistakes={mistakes} />
            <button type="submit">Rename</button>
          </Post>
          <Post c={c} to={at}>
            <p>
              {row.status === 'active'
                ? 'A disabled connection refuses deliveries; the vendor keeps trying for a while.'
                : 'Deliveries are refused while the connection is disabled.'}
            </p>
            <input type="hidden" name="status" value={row.status === 'active' ? 'disabled' : 'active'} />
            <div class="choice">
              <button type="submit">{row.status === 'active' ? 'Disable' : 'Enable'}</button>
              <a class="button danger" href={`${at}/delete`} data-dialog>
                Delete connection
              </a>
            </div>
          </Post>
        </>
      )}
    </>,
  )
}

/** What deleting a connection breaks. */
export function deletePage(c: Context<HttpEnv>, row: ConnectionRow) {
  return confirmPage(
    c,
    row,
    { title: `Delete “${row.name}”?`, to: 'delete', verb: 'Delete connection' },
    <p>
      Its address answers 404 from then on, and its signing secrets are forgotten. Its events stay. Its last event came{' '}
      <Time at={lastOf(row)} now={c.get('rt').now} none="never" />.
    </p>,
  )
}

/** A short secret shows nothing of itself. */
function secretName(hint: string): string {
  return hint === '' ? 'secret' : `secret ending in ${hint}`
}

/** What removing a signing secret breaks. */
export function removeSecretPage(c: Context<HttpEnv>, row: ConnectionRow, id: string) {
  const secret = row.secrets.find((one) => one.id === id)
  if (!secret) throw new Fault('not_found', 'The connection has no such secret.')
  const others = row.secrets.length - 1
  const title = `Remove the ${secretName(secret.hint)}?`
  return confirmPage(
    c,
    row,
    { title, to: `secrets/${id}/remove`, verb: 'Remove secret' },
    <>
      <p>
        Deliveries signed with it are refused at once. It last verified one{' '}
        <Time at={row.secrets_used[id] ?? null} now={c.get('rt').now} none="never" />.
      </p>
      <p>
        {others === 0 ? (
          <strong>It is the only secret: without one the connection refuses every delivery.</strong>
        ) : (
          `${plural(others, 'other secret')} will go on working.`
        )}
      </p>
    </>,
  )
}

function confirmPage(
  c: Context<HttpEnv>,
  row: ConnectionRow,
  ask: { title: string; to: string; verb: string },
  what: Child,
) {
  const at = pathOf(c, row.id)
  return show(
    c,
    { title: ask.verb, section, above: [row.name, at] },
    <Confirm c={c} title={ask.title} to={`${at}/${ask.to}`} verb={ask.verb} back={at} danger>
      {what}
    </Confirm>,
  )
}
