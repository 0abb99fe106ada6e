import { iso } from '../../../lib/time'
import { csv } from '../../csv'
import { askedIn, type ConsumerRow, listFound, plansPaidFor, withPlans } from './find'

/** The list of consumers as a file. What they have is read as for a page of the list. */
export const consumerCsv = csv<ConsumerRow>({
  at: '',
  name: 'consumers',
  needs: 'consumers:read',
  columns: [
    ['id', ({ id }) => id],
    ['external_ids', ({ external_ids }) => external_ids.join(' ')],
    ['email', ({ email }) => email],
    ['name', ({ name }) => name],
    ['state', ({ state }) => state],
    ['created_at', ({ created_at }) => iso(created_at)],
    ['plans', ({ subscribed }) => subscribed && plansPaidFor(subscribed).join(', ')],
    ['granted_plans', ({ granted }) => granted?.join(', ')],
    ['subscription_status', ({ subscribed }) => subscribed?.status],
    ['subscription_livemode', ({ subscribed }) => subscribed?.livemode],
  ],
  list: (c) => {
    const asked = askedIn(c)
    return async (part) => {
      const found = await listFound(c, asked, part)
      return { ...found, data: await withPlans(c, found.data) }
    }
  },
})
