import type { Audience } from '../../../identities/values'
import { toUnicode } from '../../../lib/punycode'
import type { OfferedDomain, SsoConnection } from '../../../sso/connections/connection'
import { CreateSsoConnection } from '../../../sso/connections/fields'
import { choice, form, list, own, text, tick } from '../../form'
import type { Sent } from '../../refusal'
import { Field, Wrong } from '../../ui/controls'

const ROLES = [
  ['', 'None: people must be invited'],
  ['viewer', 'Viewer'],
  ['developer', 'Developer'],
] as const

const METHODS = [
  ['', 'Automatic'],
  ['client_secret_basic', 'HTTP Basic (client_secret_basic)'],
  ['client_secret_post', 'Request body (client_secret_post)'],
  ['none', 'None: a public client'],
] as const

const ofTeam = (sent: URLSearchParams) => sent.get('audience') === 'team'
const ofCustomers = (sent: URLSearchParams) => sent.get('audience') === 'customers'

export const CONNECTION = form(CreateSsoConnection, {
  audience: own((text) => text),
  name: text('Name', { required: true, maxlength: 100, hint: 'People see it when they sign in.' }),
  issuer: text('Issuer', {
    required: true,
    type: 'url',
    hint: 'The issuer URL that the provider shows, such as https://login.acme.com. You cannot change it later.',
  }),
  client_id: text('Client ID', { required: true }),
  client_secret: text('Client secret', {
    type: 'password',
    autocomplete: 'new-password',
    hint: 'It is stored encrypted and never shown again.',
  }),
  domain_ids: own((_, sent, name) => sent.getAll(name)),
  default_role: choice('Role for new members', ROLES, { empty: null, none: 'none', when: ofTeam }),
  redirect_uris: list('Redirect URIs', '\n', { rows: 3, when: ofCustomers, hint: 'One per line.' }),
  create_consumers: tick('Create a consumer when someone new signs in', { when: ofCustomers }),
  surface_id: choice('Sign-in host', [], {
    empty: null,
    none: 'the host of this service',
    when: ofCustomers,
    hint: 'If you change the host, the redirect URI changes too. Enter the new one at the provider, and test again.',
  }),
  scopes: list('Scopes', ' ', { hint: 'Separated by spaces. Must include openid.' }),
  claims: own(
    (_, sent) => ({ email: sent.get('claim_email')?.trim(), name: sent.get('claim_name')?.trim() ?? '' }),
    (sent) => sent.has('claim_email'),
  ),
  auth_method: choice('Client authentication', METHODS, { empty: undefined }),
})

/** What a form for a new connection begins with. */
export const BEGINNING = new URLSearchParams({
  scopes: 'openid email profile',
  claim_email: 'email',
  claim_name: 'name',
})

/** The settings of a connection as its form has them. @param domains which the form offers, in its order */
export function enteredOf(row: SsoConnection, domains: readonly OfferedDomain[]): URLSearchParams {
  const { scopes, claims, default_role, redirect_uris, create_consumers, surface_id } = row.settings
  const { audience, name, client_id, auth_method } = row
  const entered = CONNECTION.opened({
    audience,
    name,
    client_id,
    default_role,
    redirect_uris,
    create_consumers,
    auth_method,
    scopes,
    surface_id: domains.find(({ id }) => id === surface_id)?.id,
  })
  entered.append('claim_email', claims.email)
  entered.append('claim_name', claims.name)
  for (const { id } of domains) if (row.domains.some((one) => one.id === id)) entered.append('domain_ids', id)
  return entered
}

/**
 * What the user has changed in a connection's form, compared with what the form showed first. The other fields are not sent,
 * so they keep what somebody else has changed meanwhile. An empty secret keeps the stored one, unless the client is to have
 * none.
 */
export function changesIn(sent: URLSearchParams): Record<string, unknown> {
  const before = sent.has('before') ? CONNECTION.fields(new URLSearchParams(sent.get('before') ?? '')) : {}
  const { audience, issuer, ...fields } = CONNECTION.fields(sent)
  const differs = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before[name])
  const changes = Object.fromEntries(Object.entries(fields).filter(differs))
  return { ...(changes.auth_method === 'none' && { client_secret: null }), ...changes }
}

type Props = {
  audience: Audience
  sent: Pick<Sent, 'mistakes'> & { entered: URLSearchParams }
  domains: readonly OfferedDomain[]
  /** Where domains are added. */
  domainsPath: string
  hasSecret?: boolean
}

/** The fields that a new connection and one that is changed have. */
export function CommonFields({ audience, sent, domains, domainsPath, hasSecret = false }: Props) {
  const kept =
    'Leave it empty to keep the stored secret. With the client authentication “None”, the stored secret is deleted.'
  return (
    <>
      {CONNECTION.field('name', sent)}
      {CONNECTION.field('client_id', sent)}
      {CONNECTION.field('client_secret', sent, hasSecret ? { hint: kept } : {})}
      <EmailDomains sent={sent} domains={domains} domainsPath={domainsPath} />
      {audience === 'team' ? (
        CONNECTION.field('default_role', sent)
      ) : (
        <>
          {CONNECTION.field('redirect_uris', sent)}
          {CONNECTION.field('create_consumers', sent)}
          {CONNECTION.field('surface_id', sent, { options: hostsOf(domains, sent.entered.get('surface_id')) })}
        </>
      )}
      <MoreFields sent={sent} />
    </>
  )
}

function EmailDomains({
  sent: { entered, mistakes },
  domains,
  domainsPath,
}: Pick<Props, 'sent' | 'domains' | 'domainsPath'>) {
  const offered = domains.filter(({ purpose }) => purpose === 'sso')
  return (
    <fieldset>
      <legend>Email domains</legend>
      {offered.length === 0 && (
        <p class="hint">
          The project has no domain for single sign-on yet. <a href={domainsPath}>Add a domain</a>
        </p>
      )}
      <div class="checks one">
        {offered.map(({ id, hostname, verified }) => (
          <label>
            <input type="checkbox" name="domain_ids" value={id} checked={entered.getAll('domain_ids').includes(id)} />{' '}
            <span>
              {toUnicode(hostname)} {!verified && <span class="quiet">(not verified)</span>}
            </span>
          </label>
        ))}
      </div>
      <Wrong>{mistakes.domain_ids}</Wrong>
    </fieldset>
  )
}

/** On which host people sign in: this service's own, or one that the project has proven to be its own. */
function hostsOf(domains: readonly OfferedDomain[], value: string | null) {
  const hosts = domains.filter(({ id, purpose, verified }) => purpose === 'surface' && (verified || id === value))
  const options = hosts.map(({ id, hostname, verified }) => {
    const name = toUnicode(hostname)
    return [id, verified ? name : `${name} (not verified)`] as const
  })
  return [['', 'The host of this service'] as const, ...options]
}

/** What most providers need no change of. */
function MoreFields({ sent }: Pick<Props, 'sent'>) {
  const { entered, mistakes } = sent
  const wrong = ['scopes', 'claims', 'auth_method'].some((name) => mistakes[name])
  return (
    <details open={wrong}>
      <summary>Scopes, claims and client authentication</summary>
      {CONNECTION.field('scopes', sent)}
      <Field name="claim_email" label="Email claim" value={entered.get('claim_email') ?? ''} />
      <Field name="claim_name" label="Name claim" value={entered.get('claim_name') ?? ''} />
      <Wrong>{mistakes.claims}</Wrong>
      {CONNECTION.field('auth_method', sent, { options: METHODS.slice(entered.get('auth_method') ? 1 : 0) })}
    </details>
  )
}
