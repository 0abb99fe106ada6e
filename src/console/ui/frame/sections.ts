import type { Scope } from '../../../lib/access'
import { type ProjectPaths, projectPaths } from '../../paths'
import type { SignedIn } from '../../session'

export type SectionName =
  | 'overview'
  | 'notices'
  | 'changes'
  | 'webhooks-out'
  | 'events'
  | 'connections'
  | 'replays'
  | 'health'
  | 'subscriptions'
  | 'invoices'
  | 'payment-methods'
  | 'purchases'
  | 'plans'
  | 'features'
  | 'consumers'
  | 'unlinked'
  | 'general'
  | 'keys'
  | 'members'
  | 'domains'
  | 'sso'
  | 'audit'
  | 'reference'
  | 'projects'
  | 'sessions'
  | 'passkeys'

type Section = { name: SectionName; label: string; path: (paths: ProjectPaths) => string; needs: Scope }
type Group = { label: string | null; sections: readonly Section[] }

/** The sections of a project, in the order of the sidebar. The sidebar hides a section that the user may not open. */
export const GROUPS: readonly Group[] = [
  {
    label: null,
    sections: [
      { name: 'overview', label: 'Overview', path: ({ start }) => start, needs: 'projects:read' },
      { name: 'notices', label: 'Notices', path: ({ notices }) => notices, needs: 'projects:read' },
      { name: 'changes', label: 'Changes', path: ({ changes }) => changes, needs: 'projects:read' },
      { name: 'webhooks-out', label: 'Webhooks out', path: ({ endpoints }) => endpoints, needs: 'webhooks:read' },
    ],
  },
  {
    label: 'Webhooks',
    sections: [
      { name: 'events', label: 'Events', path: ({ events }) => events, needs: 'billing:read' },
      { name: 'connections', label: 'Connections', path: ({ connections }) => connections, needs: 'connections:read' },
      { name: 'replays', label: 'Replays', path: ({ replays }) => replays, needs: 'billing:read' },
      { name: 'health', label: 'Health', path: ({ health }) => health, needs: 'billing:read' },
    ],
  },
  {
    label: 'Billing',
    sections: [
      billing('subscriptions', 'Subscriptions'),
      billing('invoices', 'Invoices'),
      billing('payment-methods', 'Payment methods'),
      billing('purchases', 'Purchases'),
      { name: 'plans', label: 'Plans', path: ({ plans }) => plans, needs: 'catalog:read' },
      { name: 'features', label: 'Features', path: ({ features }) => features, needs: 'catalog:read' },
    ],
  },
  {
    label: 'Consumers',
    sections: [
      { name: 'consumers', label: 'Consumers', path: ({ consumers }) => consumers, needs: 'consumers:read' },
      { name: 'unlinked', label: 'Unlinked customers', path: ({ unlinked }) => unlinked, needs: 'billing:read' },
    ],
  },
  {
    label: 'Settings',
    sections: [
      { name: 'general', label: 'General', path: ({ general }) => general, needs: 'projects:read' },
      { name: 'keys', label: 'API keys', path: ({ keys }) => keys, needs: 'api_keys:read' },
      { name: 'members', label: 'Members', path: ({ members }) => members, needs: 'members:read' },
      { name: 'domains', label: 'Domains', path: ({ domains }) => domains, needs: 'domains:read' },
      { name: 'sso', label: 'Single sign-on', path: ({ sso }) => sso, needs: 'sso:read' },
      { name: 'audit', label: 'Audit log', path: ({ audit }) => audit, needs: 'audit_log:read' },
    ],
  },
  {
    label: null,
    sections: [
      { name: 'reference', label: 'API reference', path: ({ reference }) => reference, needs: 'projects:read' },
    ],
  },
]

function billing(name: 'subscriptions' | 'invoices' | 'payment-methods' | 'purchases', label: string): Section {
  return { name, label, path: (paths) => `${paths.billing}/${name}`, needs: 'billing:read' }
}

/** The groups with the sections that the user may open. */
export function groupsFor({ scopes }: SignedIn): Group[] {
  return GROUPS.map(({ label, sections }) => ({
    label,
    sections: sections.filter(({ needs }) => scopes.includes(needs)),
  })).filter(({ sections }) => sections.length > 0)
}

/** The same section of another project, or its overview. The roles may differ, so the page may not open there. */
export function sectionIn(project: string, name: SectionName | undefined): string {
  const found = GROUPS.flatMap(({ sections }) => sections).find((section) => section.name === name)
  const paths = projectPaths(project)
  return found ? found.path(paths) : paths.start
}
