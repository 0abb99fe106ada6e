/** Muted causes of a project. The insert itself enforces the limit. */
export const MAX_MUTES = 100
