/** What a page may say after a redirect: the address names one of these, never a text. */
const NOTICES = {
  signed_out: 'You are signed out.',
  session_ended: 'The session was ended.',
  project_created: 'The project was created. Mint an API key to start.',
  key_revoked: 'The key was revoked. It stopped working at once.',
  connection_updated: 'The connection was changed.',
  connection_deleted: 'The connection was deleted. Its events stay.',
  secret_added: 'The signing secret was added.',
  secret_removed: 'The signing secret was removed.',
  replayed: 'The event will be processed again.',
  replay_coming: 'The event is open already: its next run is on its way.',
  nothing_to_replay: 'Nothing was replayed: every event that matches is open already.',
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
