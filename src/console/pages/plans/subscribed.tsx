import { NEWEST_SUBSCRIPTIONS } from '../../../catalog/limits'
import type { Subscriptions } from './read'

/** Which subscriptions of a plan are counted. */
export const COUNTED = 'active, trialing or past due. Grants and one-time payments are not included.'

/** How many subscriptions a plan has: in live mode, and below it in test mode. With a plus, there may be more. */
export function SubscriptionCount({ of }: { of: ReturnType<Subscriptions> }) {
  const counted = (n: number) => n.toLocaleString('en') + (of.complete ? '' : '+')
  return (
    <span
      title={
        of.complete
          ? undefined
          : `Of the ${NEWEST_SUBSCRIPTIONS.toLocaleString('en')} subscriptions, or fewer, that changed most recently`
      }
    >
      {counted(of.live)}
      {of.test > 0 && <span class="line quiet">{counted(of.test)} in test mode</span>}
    </span>
  )
}
