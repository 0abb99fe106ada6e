/** Messages shown after a redirect. The address carries a name from this list, never the text itself. */
const NOTICES = {
  signed_out: 'You are signed out.',
  session_ended: 'The session has ended.',
  project_created: 'The project was created. Create an API key to get started.',
  key_updated: 'The API key was changed.',
  key_revoked: 'The API key was revoked and no longer works.',
  keys_revoked: 'The API key, and the keys whose secrets it had been handed, were revoked and no longer work.',
  connection_updated: 'The connection was updated.',
  connection_deleted: 'The connection was deleted. Its events were kept.',
  secret_added: 'The signing secret was added.',
  secret_removed: 'The signing secret was removed.',
  replayed: 'The event will be processed again.',
  replay_coming: 'This event was already waiting to be processed. Its next attempt will start shortly.',
  nothing_to_replay: 'Nothing was replayed: all matching events are already waiting to be processed.',
}
export type NoticeName = keyof typeof NOTICES

export function Notice({ name }: { name: NoticeName | undefined }) {
  if (name === undefined || !Object.hasOwn(NOTICES, name)) return null
  return (
    <p class="notice" role="status">
      {NOTICES[name]}
    </p>
  )
}
