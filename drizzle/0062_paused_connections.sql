ALTER TABLE `connections` ADD `paused_at` integer;--> statement-breakpoint
ALTER TABLE `connections` ADD `held_as` integer;--> statement-breakpoint
CREATE INDEX `connections_held` ON `connections` (`project_id`,`id`,`status`) WHERE held_as IS NOT NULL;--> statement-breakpoint
CREATE INDEX `connections_releasing` ON `connections` (`id`) WHERE held_as IS NOT NULL AND status <> 'paused';--> statement-breakpoint
ALTER TABLE `events` ADD `released_at` integer;