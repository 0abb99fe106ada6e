import { pathsOf, type Visit } from '../../page'

/** The parts of the page, in their order. */
export const TABS = [
  { name: 'project', label: 'Project' },
  { name: 'consumers', label: 'Consumers' },
  { name: 'entitlements', label: 'Entitlements' },
  { name: 'purchases', label: 'Purchases' },
  { name: 'limits', label: 'Limits' },
] as const
export type TabName = (typeof TABS)[number]['name']

/** The part in the address, or else the first one. */
export function tabIn(c: Visit): TabName {
  const asked = c.req.query('tab')
  return TABS.find(({ name }) => name === asked)?.name ?? 'project'
}

/** The address of a part. */
export function tabPath({ general }: { general: string }, name: TabName): string {
  return name === 'project' ? general : `${general}?tab=${name}`
}

export const partPath = (c: Visit, name: TabName) => tabPath(pathsOf(c), name)
