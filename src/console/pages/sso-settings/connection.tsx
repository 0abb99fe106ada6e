import { toUnicode } from '../../../lib/punycode'
import type { OfferedDomain, SsoConnection } from '../../../sso/connections/connection'
import { isTested } from '../../../sso/connections/rules'
import { callbackUrl } from '../../../sso/login/browser'
import { can, pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Badge } from '../../ui/badge'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Copyable, ExactTime, Fact, Head } from '../../ui/parts'
import { Ends } from './ends'
import { BEGINNING, CONNECTION, CommonFields, enteredOf } from './fields'
import { AUDIENCE } from './list'

type Shown = { row: SsoConnection; domains: readonly OfferedDomain[] }

/** A connection: what to enter at the provider, what is missing, and its settings. */
export function connectionPage(c: Visit, { row, domains }: Shown, sent: Sent) {
  const { sso } = pathsOf(c)
  const { mistakes, status } = sent
  return show(
    c,
    { title: row.name, section: 'sso', above: ['Single sign-on', sso], status },
    <>
      <Head title={row.name}>{can(c, 'sso:write') && <Actions c={c} row={row} />}</Head>
      <Wrong>{mistakes.form}</Wrong>
      <Facts c={c} row={row} />
      <h2>Set up at your provider</h2>
      <p>
        Create an OpenID Connect application of the type “Web”, with the authorization code flow and this redirect URI:
      </p>
      <Copyable id="callback" label="Redirect URI">
        {callbackUrl(c, row)}
      </Copyable>
      <p class="quiet">
        The application must allow the scopes <code>{row.settings.scopes.join(' ')}</code>, and send the email address
        as <code>{row.settings.claims.email}</code>, with <code>email_verified</code> true.
      </p>
      {can(c, 'sso:write') && (
        <>
          <Settings c={c} row={row} domains={domains} sent={sent} />
          <Ends c={c} row={row} />
        </>
      )}
    </>,
  )
}

function Facts({ c, row }: { c: Visit; row: SsoConnection }) {
  const { now } = c.get('rt')
  return (
    <dl class="facts">
      <Fact name="Status">
        <Badge of={row.state} /> {row.enforced && <Badge of="enforced" />}
      </Fact>
      <Fact name="Who signs in">{AUDIENCE[row.audience]}</Fact>
      <Fact name="Issuer">{row.issuer}</Fact>
      <Fact name="Discovery document">
        {row.discovery?.ok ? 'Can be used' : (row.discovery?.detail ?? 'Not read yet')}
      </Fact>
      <Fact name="Tested">
        {isTested(row) ? <ExactTime at={row.tested_at} now={now} /> : 'Not since the client settings last changed'}
      </Fact>
      <Fact name="Domains">
        {row.domains.length === 0 && 'None'}
        {row.domains.map(({ id, hostname, verified }, at) => (
          <>
            {at > 0 && ', '}
            <a href={`${pathsOf(c).domains}/${id}`}>{toUnicode(hostname)}</a>
            {!verified && ' (not verified)'}
          </>
        ))}
      </Fact>
      <Fact name="Last sign-in">
        <ExactTime at={row.last_used_at} now={now} />
      </Fact>
    </dl>
  )
}

/** What to do next stands out: a test, and then to activate the connection. */
function Actions({ c, row }: { c: Visit; row: SsoConnection }) {
  const path = `${pathsOf(c).sso}/${row.id}`
  const tested = isTested(row)
  return (
    <>
      <Post c={c} to={`${path}/test`}>
        <button type="submit" class={tested ? undefined : 'primary'}>
          Test
        </button>
      </Post>
      {row.state !== 'active' && (
        <Post c={c} to={`${path}/activate`}>
          <button type="submit" class={tested ? 'primary' : undefined}>
            Activate
          </button>
        </Post>
      )}
    </>
  )
}

type SettingsProps = Shown & { c: Visit; sent: Sent }

function Settings({ c, row, domains, sent: { entered, mistakes } }: SettingsProps) {
  const paths = pathsOf(c)
  const stored = enteredOf(row, domains)
  return (
    <>
      <h2>Settings</h2>
      <Post c={c} to={`${paths.sso}/${row.id}`} class="form">
        <input type="hidden" name="audience" value={row.audience} />
        <input type="hidden" name="before" value={entered?.get('before') ?? String(stored)} autocomplete="off" />
        <CommonFields
          audience={row.audience}
          sent={{ mistakes, entered: entered ?? stored }}
          domains={domains}
          domainsPath={paths.domains}
          hasSecret={row.secret !== null}
        />
        <button type="submit">Save</button>
      </Post>
    </>
  )
}

/** The form for a new connection. Who signs in is chosen first, because the other fields depend on it. */
export function createPage(c: Visit, domains: readonly OfferedDomain[], { mistakes, status, ...of }: Sent) {
  const entered = of.entered ?? BEGINNING
  const sent = { mistakes, entered }
  const { sso, domains: domainsPath } = pathsOf(c)
  const audience = (entered.get('audience') ?? c.req.query('audience')) === 'customers' ? 'customers' : 'team'
  const other = audience === 'team' ? 'customers' : 'team'
  return show(
    c,
    { title: 'Connect a provider', section: 'sso', above: ['Single sign-on', sso], status },
    <>
      <Head title="Connect a provider" />
      <p>
        This connection is for{' '}
        {audience === 'team' ? 'your team, who sign in to this console' : 'your customers, who sign in to your product'}
        .{' '}
        <a href={`${sso}/new?audience=${other}`}>
          {audience === 'team' ? 'Connect one for your customers' : 'Connect one for your team'}
        </a>
      </p>
      <Post c={c} to={sso} class="form once">
        <input type="hidden" name="audience" value={audience} />
        {CONNECTION.field('issuer', sent)}
        <CommonFields audience={audience} sent={sent} domains={domains} domainsPath={domainsPath} />
        <Wrong>{mistakes.form}</Wrong>
        <SubmitOrCancel label="Create connection" back={sso} />
      </Post>
    </>,
  )
}
