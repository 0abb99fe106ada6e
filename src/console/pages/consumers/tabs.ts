import type { Scope } from '../../../lib/access'
import { can, type Visit } from '../../page'

/** A tab of a consumer's page. */
export type TabName = 'access' | 'billing' | 'events' | 'devices' | 'history'

/** The tabs in their order, and what a user needs to see them. */
export const TABS: readonly { name: TabName; label: string; needs: Scope }[] = [
  { name: 'access', label: 'Access', needs: 'entitlements:read' },
  { name: 'billing', label: 'Billing', needs: 'consumers:read' },
  { name: 'events', label: 'Events', needs: 'billing:read' },
  { name: 'devices', label: 'Devices', needs: 'consumers:read' },
  { name: 'history', label: 'History', needs: 'audit_log:read' },
]

/** The tab in the address, or else the first one that the user may see. */
export function tabOf(c: Visit): TabName | null {
  const open = TABS.flatMap(({ name, needs }) => (can(c, needs) ? [name] : []))
  return open.find((name) => name === c.req.query('tab')) ?? open[0] ?? null
}
