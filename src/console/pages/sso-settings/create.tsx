import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { OfferedDomain } from '../../../sso/connections/store'
import { UNSENT } from '../../form'
import { pathsOf } from '../../page'
import { Field, Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { BEGINNING } from './entered'
import { CommonFields } from './fields'

/** The form for a new connection. Who signs in is chosen first, because the other fields depend on it. */
export function createPage(
  c: Context<HttpEnv>,
  domains: readonly OfferedDomain[],
  entered = BEGINNING,
  { mistakes, status } = UNSENT,
) {
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
        <Field
          name="issuer"
          label="Issuer"
          type="url"
          value={entered.get('issuer') ?? ''}
          required
          mistakes={mistakes}
          hint="The issuer URL that the provider shows, such as https://login.acme.com. You cannot change it later."
        />
        <CommonFields
          audience={audience}
          entered={entered}
          domains={domains}
          domainsPath={domainsPath}
          mistakes={mistakes}
        />
        <Wrong>{mistakes.form}</Wrong>
        <SubmitOrCancel label="Create connection" back={sso} />
      </Post>
    </>,
  )
}
