import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { OfferedDomain } from '../../../sso/connections/connection'
import { pathsOf } from '../../page'
import type { Sent } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { BEGINNING, CONNECTION, CommonFields } from './fields'

/** The form for a new connection. Who signs in is chosen first, because the other fields depend on it. */
export function createPage(c: Context<HttpEnv>, domains: readonly OfferedDomain[], { mistakes, status, ...of }: Sent) {
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
