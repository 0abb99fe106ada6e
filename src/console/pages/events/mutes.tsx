import { projectOf } from '../../../http/auth'
import { codeNamed } from '../../../inbox/failures/fields'
import { failureCause } from '../../../inbox/failures/mute'
import { pathsOf } from '../../page'
import { muteActions } from '../mutes/actions'
import { adviceOnCause } from './cause-parts'

/** Mutes causes of failed events, and unmutes them. */
export const failureMutes = muteActions({
  at: '/failures/:connection/:code',
  needs: 'billing:write',
  title: 'Mute failed events',
  section: 'events',
  causeIn: (c) => failureCause(projectOf(c.get('actor')), c.req.param('connection') ?? '', c.req.param('code') ?? ''),
  list: (c) => ['Failed events', `${pathsOf(c).events}?status=failed`],
  says: ({ code }, { name, vendor }) => (
    <>
      <p>
        <strong>{adviceOnCause({ vendor, last_error_code: codeNamed(code) ?? null }).what}</strong>
      </p>
      <p>Connection: {name}</p>
      <p>
        While this cause is muted, it does not appear under <em>Needs attention</em>, and no notice is sent about it.
        Its events stay in the list, in the counts and in the health.
      </p>
    </>
  ),
})
