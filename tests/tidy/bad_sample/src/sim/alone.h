// A room without a README.
#pragma once
