import type { ConnectionDomain } from '../../../sso/connections/store'
import type { Audience } from '../../../sso/values'
import type { Mistakes } from '../../form'
import { Field, Select } from '../../ui/controls'

/** What the fields of the form have, as it was filled in. */
export type Entered = Pick<URLSearchParams, 'get' | 'getAll'>

const ROLES = [
  ['', 'Nobody: people must be invited'],
  ['viewer', 'Viewer'],
  ['developer', 'Developer'],
] as const

/** The fields that a new connection and one that is changed have. */
export function CommonFields({
  audience,
  entered,
  domains,
  mistakes,
  hasSecret = false,
}: {
  audience: Audience
  entered: Entered
  domains: readonly ConnectionDomain[]
  mistakes: Mistakes
  hasSecret?: boolean
}) {
  const value = (name: string) => entered.get(name) ?? ''
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
            ? 'Leave it empty to keep the secret that is stored.'
            : 'It is stored encrypted, and never shown again.'
        }
      />
      <fieldset>
        <legend>Email domains</legend>
        {domains.length === 0 && <p class="quiet">The project has no domain for single sign-on yet.</p>}
        {domains.map(({ id, hostname, verified }) => (
          <label class="check">
            <input type="checkbox" name="domain_ids" value={id} checked={entered.getAll('domain_ids').includes(id)} />{' '}
            {hostname} {!verified && <span class="quiet">(not verified)</span>}
          </label>
        ))}
      </fieldset>
      {audience === 'team' ? (
        <Field name="default_role" label="Role of new people" mistakes={mistakes}>
          <Select name="default_role" value={value('default_role')} options={ROLES} />
        </Field>
      ) : (
        <>
          <Field name="redirect_uris" label="Redirect addresses, one on each line" mistakes={mistakes}>
            <textarea id="redirect_uris" name="redirect_uris" rows={3}>
              {value('redirect_uris')}
            </textarea>
          </Field>
          <label class="check">
            <input
              type="checkbox"
              name="create_consumers"
              value="true"
              checked={value('create_consumers') === 'true'}
            />{' '}
            Create a consumer when somebody new signs in
          </label>
        </>
      )}
    </>
  )
}
