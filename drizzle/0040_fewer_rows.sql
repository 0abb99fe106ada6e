ALTER TABLE `events` ADD `started_at` integer;--> statement-breakpoint
-- For an hour the version before this one may still run. It searches by `events_final`, which the cron drops after that, and
-- reads rows that are no longer written after that. A new database has no such version.
CREATE INDEX `events_ended` ON `events` (`project_id`,`status`,`id`) WHERE due_at IS NULL AND status <> 'processed';--> statement-breakpoint
INSERT INTO `state` (`name`, `value`) SELECT 'fewer_rows_from', (unixepoch() + 3600) * 1000 WHERE EXISTS (SELECT 1 FROM `connections`);
