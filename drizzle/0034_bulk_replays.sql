ALTER TABLE `replays` ADD `day_events` integer;--> statement-breakpoint
CREATE INDEX `replays_bulk` ON `replays` (`project_id`,`id`) WHERE event_id IS NULL;