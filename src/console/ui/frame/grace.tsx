import type { InGrace } from '../../../domains/domain'
import { toUnicode } from '../../../lib/punycode'
import { projectPaths } from '../../paths'
import { exact } from '../format'

/** A warning on every page of a project, for each domain whose record is gone. */
export function GraceNotices({ project, domains }: { project: string; domains: readonly InGrace[] }) {
  return (
    <>
      {domains.map(({ id, hostname, purpose, grace_until }) => (
        <p class="warning" role="status">
          The record of <a href={`${projectPaths(project).domains}/${id}`}>{toUnicode(hostname)}</a> is gone.{' '}
          {purpose === 'sso' ? 'Single sign-on for it ends' : 'It stops serving pages'} on{' '}
          {grace_until === null ? 'a day soon' : exact(grace_until)}.
        </p>
      ))}
    </>
  )
}
