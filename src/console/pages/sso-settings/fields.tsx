import { toUnicode } from '../../../lib/punycode'
import type { OfferedDomain } from '../../../sso/connections/store'
import type { Audience } from '../../../sso/values'
import type { Mistakes } from '../../form'
import { Field, Select, Wrong } from '../../ui/controls'

/** What the fields of the form have, as it was filled in. */
export type Entered = Pick<URLSearchParams, 'get' | 'getAll'>

const ROLES = [
  ['', 'None: people must be invited'],
  ['viewer', 'Viewer'],
  ['developer', 'Developer'],
] as const

/** The fields that a new connection and one that is changed have. */
export function CommonFields({
  audience,
  entered,
  domains,
  domainsPath,
  mistakes,
  hasSecret = false,
}: {
  audience: Audience
  entered: Entered
  domains: readonly OfferedDomain[]
  /** Where domains are added. */
  domainsPath: string
  mistakes: Mistakes
  hasSecret?: boolean
}) {
  const value = (name: string) => entered.get(name) ?? ''
  const emailDomains = domains.filter(({ purpose }) => purpose === 'sso')
  return (
    <>
      <Field
        name="name"
        label="Name"
        value={value('name')}
        required
        maxlength={100}
        mistakes={mistakes}
        hint="People see it when they sign in."
      />
      <Field name="client_id" label="Client ID" value={value('client_id')} required mistakes={mistakes} />
      <Field
        name="client_secret"
        label="Client secret"
        type="password"
        autocomplete="new-password"
        mistakes={mistakes}
        hint={
          hasSecret
            ? 'Leave it empty to keep the stored secret. With the client authentication “None”, the stored secret is deleted.'
            : 'It is stored encrypted and never shown again.'
        }
      />
      <fieldset>
        <legend>Email domains</legend>
        {emailDomains.length === 0 && (
          <p class="hint">
            The project has no domain for single sign-on yet. <a href={domainsPath}>Add a domain</a>
          </p>
        )}
        <div class="checks one">
          {emailDomains.map(({ id, hostname, verified }) => (
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
      {audience === 'team' ? (
        <Field name="default_role" label="Role for new members" mistakes={mistakes}>
          <Select name="default_role" value={value('default_role')} options={ROLES} />
        </Field>
      ) : (
        <>
          <Field name="redirect_uris" label="Redirect URIs, one per line" mistakes={mistakes}>
            <textarea id="redirect_uris" name="redirect_uris" rows={3}>
              {value('redirect_uris')}
            </textarea>
          </Field>
          <div class="field">
            <div class="checks one">
              <label>
                <input
                  type="checkbox"
                  name="create_consumers"
                  value="true"
                  checked={value('create_consumers') === 'true'}
                />{' '}
                Create a consumer when someone new signs in
              </label>
            </div>
          </div>
          <SurfaceField value={value('surface_id')} domains={domains} mistakes={mistakes} />
        </>
      )}
      <MoreFields entered={entered} mistakes={mistakes} />
    </>
  )
}

type Given = { value: string; domains: readonly OfferedDomain[]; mistakes: Mistakes }

/** On which host people sign in: this service's own, or one that the project has proven to be its own. */
function SurfaceField({ value, domains, mistakes }: Given) {
  const hosts = domains.filter(({ id, purpose, verified }) => purpose === 'surface' && (verified || id === value))
  const options = hosts.map(({ id, hostname, verified }) => {
    const name = toUnicode(hostname)
    return [id, verified ? name : `${name} (not verified)`] as const
  })
  return (
    <Field
      name="surface_id"
      label="Host of the sign-in"
      mistakes={mistakes}
      hint="If you change the host, the redirect URI changes too. Enter the new one at the provider, and test again."
    >
      <Select name="surface_id" value={value} options={[['', 'The host of this service'], ...options]} />
    </Field>
  )
}

const METHODS = [
  ['', 'Automatic'],
  ['client_secret_basic', 'HTTP Basic (client_secret_basic)'],
  ['client_secret_post', 'In the form (client_secret_post)'],
  ['none', 'None: a client without a secret'],
] as const

/** What most providers need no change of. */
function MoreFields({ entered, mistakes }: { entered: Entered; mistakes: Mistakes }) {
  const value = (name: string) => entered.get(name) ?? ''
  const wrong = ['scopes', 'claims', 'auth_method'].some((name) => mistakes[name])
  return (
    <details open={wrong}>
      <summary>Scopes, claims and client authentication</summary>
      <Field
        name="scopes"
        label="Scopes, separated by spaces"
        value={value('scopes')}
        mistakes={mistakes}
        hint="openid must be one of them."
      />
      <Field name="claim_email" label="Claim with the email address" value={value('claim_email')} />
      <Field name="claim_name" label="Claim with the name" value={value('claim_name')} />
      <Wrong>{mistakes.claims}</Wrong>
      <Field name="auth_method" label="Client authentication" mistakes={mistakes}>
        <Select
          name="auth_method"
          value={value('auth_method')}
          options={METHODS.slice(value('auth_method') === '' ? 0 : 1)}
        />
      </Field>
    </details>
  )
}
