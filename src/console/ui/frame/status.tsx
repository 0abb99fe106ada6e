import type { InGrace } from '../../../domains/domain'
import type { PipelineStatus } from '../../../health/health'
import { toUnicode } from '../../../lib/punycode'
import { ICON, ICON_DEGRADED, ICON_FAILING } from '../../asset-names'
import { type Standing, standingIn } from '../../browser'
import type { Visit } from '../../page'
import { projectPaths } from '../../paths'
import type { SignedIn } from '../../session'
import { exact } from '../format'

const WORDS: Record<PipelineStatus, string> = { ok: 'Healthy', degraded: 'Degraded', failing: 'Failing' }

/** The icon of a tab says what the status is, too. */
const FAVICONS: Record<PipelineStatus, string> = { ok: ICON, degraded: ICON_DEGRADED, failing: ICON_FAILING }

/** What the sidebar last said about the project of a page, for those who may see that: a page begins with it. Null if that is not known. */
export function lastStanding(c: Visit, user: SignedIn): Standing | null {
  if (user.project_id === null || !user.scopes.includes('billing:read')) return null
  return standingIn(c, user)
}

/** The icon of a tab, as far as the status is known. */
export const faviconOf = (standing: Standing | null) => FAVICONS[standing?.status ?? 'ok']

type BadgeProps = { of: PipelineStatus | null; at: string; health: string; late?: boolean }

/**
 * The status of the project's pipeline, at the end of the sidebar. It loads after the page, so that no
 * page waits for it. Without a script it is a link to the health page.
 *
 * @param of the last one; null if none is known
 * @param late whether it is the one that has loaded
 */
export function PipelineBadge({ of, at, health, late }: BadgeProps) {
  const asking = { 'hx-get': at, 'hx-swap': 'outerHTML', 'data-live': '' }
  return (
    <a
      id="status"
      class={`status ${of ?? ''}`}
      href={health}
      hx-trigger={late ? 'every 60s' : 'load, every 60s'}
      data-favicon={of === null ? undefined : FAVICONS[of]}
      {...asking}
    >
      {of === null ? 'Status' : WORDS[of]}
    </a>
  )
}

/** What is counted beside the link to a section. */
const COUNTED = { events: 'failed', unlinked: 'without a consumer' } as const
export type CountedSection = keyof typeof COUNTED

export const isCounted = (section: string): section is CountedSection => Object.hasOwn(COUNTED, section)

/**
 * What waits in a section, beside the link to it. It comes with the status, in an answer of its own.
 *
 * @param of null if it is not known yet
 * @param late whether it is the one that has loaded
 */
export function SectionCount({ section, of, late }: { section: CountedSection; of: Standing | null; late?: boolean }) {
  const n = section === 'events' ? (of?.failed ?? 0).toLocaleString('en') : (of?.unlinked ?? '0')
  return (
    <span id={`${section}-count`} class="count" hx-swap-oob={late ? 'true' : undefined} hidden={n === '0'}>
      {n} <span class="unseen">{COUNTED[section]}</span>
    </span>
  )
}

/** A warning on every page of a project, for each domain whose record is gone. */
export function GraceNotices({ project, domains }: { project: string; domains: readonly InGrace[] }) {
  return (
    <>
      {domains.map(({ id, hostname, purpose, grace_until }) => (
        <p class="warning" role="status">
          The DNS record of <a href={`${projectPaths(project).domains}/${id}`}>{toUnicode(hostname)}</a> is missing.{' '}
          {purpose === 'sso' ? 'Single sign-on for it ends' : 'It stops serving pages'} on{' '}
          {grace_until === null ? 'a day soon' : exact(grace_until)}.
        </p>
      ))}
    </>
  )
}
