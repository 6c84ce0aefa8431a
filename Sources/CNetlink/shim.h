#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
