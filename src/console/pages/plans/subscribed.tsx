import { NEWEST_SUBSCRIPTIONS } from '../../../catalog/limits'
import { pathsOf, type Visit } from '../../page'
import type { Subscriptions } from './read'

/** Which subscriptions of a plan are counted, and where a number leads. */
export const COUNTED =
  'active, trialing or past due. Grants and one-time payments are not included. Each number links to the plan’s subscriptions, with ended ones.'

type Props = { c: Visit; plan: string; of: ReturnType<Subscriptions> }

/** How many subscriptions a plan has: in live mode, and below it in test mode. With a plus, there may be more. */
export function SubscriptionCount({ c, plan, of }: Props) {
  const counted = (n: number, livemode: boolean) => {
    const list = new URLSearchParams({ plan, livemode: String(livemode) })
    return (
      <a href={`${pathsOf(c).billing}/subscriptions?${list}`}>{n.toLocaleString('en') + (of.complete ? '' : '+')}</a>
    )
  }
  return (
    <span
      title={
        of.complete
          ? undefined
          : `Of the ${NEWEST_SUBSCRIPTIONS.toLocaleString('en')} subscriptions, or fewer, that changed most recently`
      }
    >
      {counted(of.live, true)}
      {of.test > 0 && <span class="line quiet">{counted(of.test, false)} in test mode</span>}
    </span>
  )
}
