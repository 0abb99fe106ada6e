import type { Finding } from '../../../health/findings'
import { OPEN_STATUSES } from '../../../inbox/lifecycle'
import { can, pathsOf, type Visit } from '../../page'

type Place = [label: string, href: string]

/** Where a finding of health can be seen in detail, and fixed; null if the console has no such page. */
export function placeOfFinding(c: Visit, { about }: Pick<Finding, 'about'>): Place | null {
  const { events, connections, billing, endpoints } = pathsOf(c)
  switch (about) {
    case 'pending':
      return ['See open events', `${events}?${openQuery()}`]
    case 'leases':
      return ['See these events', `${events}?status=processing&order=asc`]
    case 'failed':
      return ['See failed events', `${events}?status=failed`]
    case 'fetches_failed':
      return ['See failed fetches', `${events}?source=fetch&status=failed`]
    case 'renewals_missing':
      return ['See overdue subscriptions', `${billing}/subscriptions?overdue=true`]
    case 'webhook_endpoint':
      return can(c, 'webhooks:read') ? ['See webhook endpoints', endpoints] : null
    case 'sweep':
    case 'store':
    case 'entitlements':
      return null
    default:
      return can(c, 'connections:read') ? ['See connections', connections] : null
  }
}

/** The open events as a query of the list, the oldest first. */
export function openQuery(): string {
  return `${OPEN_STATUSES.map((status) => `status=${status}`).join('&')}&order=asc`
}
