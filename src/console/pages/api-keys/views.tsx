import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { KeyRow } from '../../../api-keys/store'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import type { Page } from '../../../http/page'
import { missingScopes } from '../../../lib/access'
import { can, type Mistakes } from '../../page'
import { projectPaths } from '../../paths'
import { userOf } from '../../session'
import { exact, plural, relative } from '../../ui/format'
import { show } from '../../ui/layout'
import { Badge, Confirm, Copyable, Field, Head, More, Post, Select, Table, Time, Wrong } from '../../ui/parts'

const pathsOf = (c: Context<HttpEnv>) => projectPaths(projectOf(c.get('actor')))

/** The list of keys, or what a first key is for. */
export function listPage(c: Context<HttpEnv>, { data: rows, next_cursor }: Page<KeyRow>) {
  const paths = pathsOf(c)
  const mint = can(c, 'api_keys:write') && (
    <a class="button primary" href={`${paths.keys}/new`}>
      Create API key
    </a>
  )
  const empty = rows.length === 0 && c.req.query('cursor') === undefined
  return show(
    c,
    { title: 'API keys', section: 'keys' },
    <>
      <Head title="API keys">{mint}</Head>
      {empty ? (
        <section class="empty">
          <h2>No API keys yet</h2>
          <p>
            A key lets a server of yours call the API for this project, and for no other. Put it in $API_KEY and try:
          </p>
          <Copyable id="first-call" label="curl command">
            {curlOf(c, '$API_KEY')}
          </Copyable>
          {mint || <p>Ask a developer or admin of the project to create one.</p>}
        </section>
      ) : (
        <Table
          label="API keys"
          heads={['Name', 'Key', 'Scopes', 'Last used', 'Created', 'By', 'Expires', ...(mint ? [''] : [])]}
          rows={rows.map((row) => cellsOf(c, row))}
        />
      )}
      <More c={c} cursor={next_cursor} />
      <h2>Project id, for X-Project-Id</h2>
      <Copyable id="project-id" label="project id">
        {projectOf(c.get('actor'))}
      </Copyable>
    </>,
  )
}

function cellsOf(c: Context<HttpEnv>, row: KeyRow): Child[] {
  const { now } = c.get('rt')
  const at = `${pathsOf(c).keys}/${row.id}`
  const scopes = row.scopes
  const action = (verb: string) => (
    <a class="button" href={`${at}/${verb.toLowerCase()}`} data-dialog>
      {verb}
      <span class="unseen"> {row.name}</span>
    </a>
  )
  return [
    row.name,
    <code>{row.key_prefix}</code>,
    <details>
      <summary>{plural(scopes.length, 'scope')}</summary>
      {scopes.map((scope) => (
        <code class="line">{scope}</code>
      ))}
    </details>,
    <Time at={row.last_used_at} now={now} />,
    <Time at={row.created_at} now={now} />,
    <>
      {row.minter_email ?? 'unknown'} {!row.minter_is_member && <Badge of="left the project" />}
    </>,
    <>
      <Time at={row.expires_at} now={now} />{' '}
      {row.expires_at !== null && row.expires_at <= now && <Badge of="expired" />}
    </>,
    ...(can(c, 'api_keys:write')
      ? [
          <>
            {mayRotate(c, row) && action('Rotate')} {action('Revoke')}
          </>,
        ]
      : []),
  ]
}

/** Whether the user may obtain a secret of this key: nobody rotates a key that may do more than he may. */
function mayRotate(c: Context<HttpEnv>, row: KeyRow): boolean {
  const { scopes } = userOf(c)
  const live = row.expires_at === null || row.expires_at > c.get('rt').now
  return live && scopes.includes('api_keys:write') && missingScopes(row.scopes, scopes).length === 0
}

type Entered = { name: string; scopes: readonly string[]; expires: string; on: string }
const EXPIRIES = [
  ['', 'Never'],
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['date', 'On a date …'],
] as const

/** The form of a new key: it offers the scopes that its user has. */
export function mintPage(
  c: Context<HttpEnv>,
  entered: Entered,
  mistakes: Mistakes = {},
  status: 200 | 409 | 422 = 200,
) {
  const { keys } = pathsOf(c)
  return show(
    c,
    { title: 'Create API key', section: 'keys', above: ['API keys', keys], status },
    <>
      <Head title="Create API key" />
      <Post c={c} to={keys} class="form">
        <Wrong>{mistakes.form}</Wrong>
        <Field
          name="name"
          label="Name"
          value={entered.name}
          required
          maxlength={100}
          autofocus
          mistakes={mistakes}
          hint="To tell it by, such as the server that will hold it."
        />
        <fieldset>
          <legend>Scopes</legend>
          <p class="hint">What the key may do in this project. You can give what your own role has.</p>
          <div class="checks">
            {userOf(c).scopes.map((scope) => (
              <label>
                <input type="checkbox" name="scope" value={scope} checked={entered.scopes.includes(scope)} />{' '}
                <code>{scope}</code>
              </label>
            ))}
          </div>
          <Wrong>{mistakes.scopes && 'Choose at least one scope.'}</Wrong>
        </fieldset>
        <div class="pair">
          <Field name="expires" label="Expires">
            <Select name="expires" value={entered.expires} options={EXPIRIES} />
          </Field>
          <Field name="on" label="Date (UTC)" type="date" value={entered.on} />
        </div>
        <Wrong>{mistakes.expires_at}</Wrong>
        <button type="submit" class="primary">
          Create API key
        </button>
      </Post>
    </>,
  )
}

/** The one answer that holds a secret. It is in no address and is kept nowhere. */
export function secretPage(c: Context<HttpEnv>, row: KeyRow, secret: string, what: 'created' | 'rotated') {
  const { keys } = pathsOf(c)
  return show(
    c,
    { title: `API key ${what}`, section: 'keys', status: what === 'created' ? 201 : 200 },
    <>
      <Head title={`API key ${what}`} />
      <p class="warning" role="note">
        <strong>Copy the secret now: it is shown this once.</strong> We keep only its hash. Do not reload this page:
        that sends the form again and makes another secret.
      </p>
      <h2>{row.name}</h2>
      <Copyable id="secret" label="secret">
        {secret}
      </Copyable>
      <p>
        {row.expires_at === null
          ? 'It never expires.'
          : `It expires ${relative(row.expires_at, c.get('rt').now)}, at ${exact(row.expires_at)}.`}
      </p>
      <h2>Try it</h2>
      <Copyable id="try" label="curl command">
        {curlOf(c, secret)}
      </Copyable>
      <p>
        <a class="button primary" href={keys}>
          I have stored it
        </a>
      </p>
    </>,
  )
}

function curlOf(c: Context<HttpEnv>, secret: string): string {
  const url = `${new URL(c.req.url).origin}/platform/v1/projects`
  return `curl ${url} \\\n  -H "Authorization: Bearer ${secret}" \\\n  -H "X-Project-Id: ${projectOf(c.get('actor'))}"`
}

/** What rotating a key breaks. */
export function rotatePage(c: Context<HttpEnv>, row: KeyRow, mistakes: Mistakes = {}, status: 200 | 409 | 422 = 200) {
  const what =
    'You get a new secret for the same key. The old one stops working at once: whatever still sends it gets a 401 until it has the new one.'
  return confirmPage(c, row, { verb: 'Rotate', status, mistake: mistakes.form, what })
}

/** What revoking a key breaks. */
export function revokePage(c: Context<HttpEnv>, row: KeyRow) {
  const what = 'The key stops working at once, for good: whatever still sends it gets a 401. This cannot be undone.'
  return confirmPage(c, row, { verb: 'Revoke', status: 200, danger: true, what })
}

type Ask = { verb: string; status: 200 | 409 | 422; danger?: boolean; mistake?: string | undefined; what: string }

function confirmPage(c: Context<HttpEnv>, row: KeyRow, { verb, status, danger = false, mistake, what }: Ask) {
  const { keys } = pathsOf(c)
  const { now } = c.get('rt')
  return show(
    c,
    { title: `${verb} API key`, section: 'keys', above: ['API keys', keys], status },
    <Confirm
      c={c}
      title={`${verb} “${row.name}”?`}
      to={`${keys}/${row.id}/${verb.toLowerCase()}`}
      verb={`${verb} key`}
      back={keys}
      danger={danger}
    >
      <p>
        <code>{row.key_prefix}</code>
      </p>
      <p>{what}</p>
      <p>
        {row.last_used_at === null ? (
          'It has never been used.'
        ) : (
          <strong>
            It was last used {relative(row.last_used_at, now)}, at {exact(row.last_used_at)}.
          </strong>
        )}
      </p>
      <Wrong>{mistake}</Wrong>
    </Confirm>,
  )
}
