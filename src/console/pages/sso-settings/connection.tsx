import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { isTested } from '../../../sso/connections/rules'
import type { ConnectionDomain, SsoConnection } from '../../../sso/connections/store'
import { callbackUrl } from '../../../sso/login/address'
import { UNSENT } from '../../form'
import { can, pathsOf } from '../../page'
import { Badge } from '../../ui/badge'
import { Post, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Copyable, ExactTime, Fact, Head } from '../../ui/parts'
import { CommonFields } from './fields'
import { AUDIENCE } from './list'

/** A connection: what to enter at the provider, what is missing, and its settings. */
export function connectionPage(
  c: Context<HttpEnv>,
  row: SsoConnection,
  domains: readonly ConnectionDomain[],
  { mistakes, status } = UNSENT,
) {
  const { sso } = pathsOf(c)
  const { now } = c.get('rt')
  return show(
    c,
    { title: row.name, section: 'sso', above: ['Single sign-on', sso], status },
    <>
      <Head title={row.name}>{can(c, 'sso:write') && <Actions c={c} row={row} />}</Head>
      <Wrong>{mistakes.form}</Wrong>
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
          {isTested(row) ? <ExactTime at={row.tested_at} now={now} /> : 'Not since the last change of the client'}
        </Fact>
        <Fact name="Domains">
          {row.domains.length === 0
            ? 'None'
            : row.domains.map(({ hostname, verified }) => `${hostname}${verified ? '' : ' (not verified)'}`).join(', ')}
        </Fact>
        <Fact name="Last sign-in">
          <ExactTime at={row.last_used_at} now={now} />
        </Fact>
      </dl>
      <section class="panel-card">
        <h2>Enter at your provider</h2>
        <p>
          Create an OpenID Connect application of the type “Web”, with the authorization code flow and this redirect
          URI:
        </p>
        <Copyable id="callback" label="Redirect URI">
          {callbackUrl(c, row)}
        </Copyable>
        <p class="quiet">
          Scopes: {row.settings.scopes.join(' ')}. The provider must send the claim {row.settings.claims.email}, and
          email_verified as true.
        </p>
      </section>
      {can(c, 'sso:write') && (
        <section class="panel-card">
          <h2>Settings</h2>
          <Post c={c} to={`${sso}/${row.id}`} class="stack">
            <input type="hidden" name="audience" value={row.audience} />
            <CommonFields
              audience={row.audience}
              entered={enteredOf(row)}
              domains={domains}
              mistakes={mistakes}
              hasSecret={row.secret !== null}
            />
            <button type="submit">Save</button>
          </Post>
        </section>
      )}
    </>,
  )
}

function Actions({ c, row }: { c: Context<HttpEnv>; row: SsoConnection }) {
  const path = `${pathsOf(c).sso}/${row.id}`
  return (
    <>
      <Post c={c} to={`${path}/test`}>
        <button type="submit">Test</button>
      </Post>
      {row.state === 'active' ? (
        <Post c={c} to={`${path}/disable`}>
          <button type="submit">Disable</button>
        </Post>
      ) : (
        <Post c={c} to={`${path}/activate`}>
          <button type="submit" class="primary">
            Activate
          </button>
        </Post>
      )}
      {row.audience === 'team' && row.state === 'active' && (
        <a class="button" href={`${path}/enforce`}>
          {row.enforced ? 'Stop enforcing' : 'Enforce'}
        </a>
      )}
      <a class="button danger" href={`${path}/delete`}>
        Delete
      </a>
    </>
  )
}

/** The settings of a connection as its form has them. */
function enteredOf({ name, client_id, settings, domains }: SsoConnection): URLSearchParams {
  return new URLSearchParams([
    ['name', name],
    ['client_id', client_id],
    ['default_role', settings.default_role ?? ''],
    ['redirect_uris', settings.redirect_uris.join('\n')],
    ['create_consumers', String(settings.create_consumers)],
    ...domains.map(({ id }): [string, string] => ['domain_ids', id]),
  ])
}
